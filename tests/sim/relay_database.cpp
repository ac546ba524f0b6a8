#include "sim/relay_database.hpp"

#include <algorithm>
#include <utility>

namespace walrelay::sim {
namespace {

error cut_off() {
    return {errc::postgres_lost, "the connection ended before the commit"};
}

}  // namespace

/// The driver may read so many frames, as if no more had arrived.
class relay_database::some_frames final : public relay::frame_source {
public:
    some_frames(session_handle from, std::uint64_t how_many)
        : from_(std::move(from)), left_(how_many) {}

    [[nodiscard]] result<std::optional<std::string_view>> next_frame() override {
        if (left_ == 0 || !from_->has_frame()) {
            return std::optional<std::string_view>();
        }
        --left_;
        frame_ = from_->take_frame();
        return std::optional<std::string_view>(frame_);
    }

private:
    session_handle from_;
    std::uint64_t left_;
    std::string frame_;
};

// Connecting.

void relay_database::connect(const relay::connect_postgres& wanted, relay::known_before known) {
    life_.may_throw();
    known_ = std::move(known);
    const bool gap = known_.gap || around_.source.halt();
    if (around_.how.backfills && (gap || !around_.slot.exists())) {
        connect_snapshot(wanted.epoch, around_.slot.exists());
    } else {
        connect_slot(wanted.epoch);
    }
}

void relay_database::connect_slot(std::uint64_t epoch) {
    replication_events events;
    events.on_readable = life_.if_it_lasts([this] { read_frames(); });
    events.on_lost = [this, life = life_.weak_from_this(), epoch](const error& why) {
        if (const auto lasts = life.lock(); lasts && !lasts->is_over() && !finishing_) {
            life_.happens(
                [epoch, why](relay::relay_driver& driver) { driver.postgres_failed(epoch, why); });
        }
    };
    around_.slot.connect(std::move(events), [this, life = life_.weak_from_this(),
                                             epoch](const result<session_handle>& answer) {
        const auto lasts = life.lock();
        if (!lasts || lasts->is_over()) {
            if (answer) {
                (*answer)->close();
            }
            return;
        }
        offered_ = answer ? *answer : nullptr;
        const auto told = as_told(answer);
        earlier_ = answer ? *answer : earlier_;
        life_.happens([this, epoch, told](relay::relay_driver& driver) {
            offered_ = nullptr;
            slot_answered(epoch, told, driver);
        });
    });
}

void relay_database::slot_answered(std::uint64_t epoch, const result<session_handle>& answer,
                                   relay::relay_driver& driver) {
    if (!driver.wants_postgres(epoch)) {
        if (answer) {
            (*answer)->close();
        }
        return;
    }
    if (!answer) {
        driver.postgres_failed(epoch, answer.error());
        return;
    }
    if (const auto& halt = around_.source.halt(); halt && !around_.how.backfills) {
        (*answer)->close();
        driver.postgres_failed(epoch, {errc::halted, "the slot is halted: " + *halt});
        return;
    }
    session_ = *answer;
    server_ = session_->incarnation();
    auto session = describe(session_);
    has_streamed_ = true;
    driver.postgres_connected(epoch, std::move(session), std::nullopt);
    call_new_rows(epoch, session_);
}

void relay_database::call_new_rows(std::uint64_t epoch, const session_handle& over) {
    constexpr sim_time pause{100000};
    life_.happens_after(pause, [this, epoch, over](relay::relay_driver& driver) {
        if (over == nullptr || session_ != over) {
            return;
        }
        if (reaches(server_)) {
            if (driver.new_rows_heard()) {
                driver.new_rows_called(epoch, rows_since(heard_from_));
            }
            if (session_ == over && driver.hear_new_rows(epoch)) {
                heard_from_ = around_.source.wal_end();
            }
        }
        call_new_rows(epoch, over);
    });
}

relay::roll relay_database::rows_since(lsn heard_from) const {
    relay::roll all;
    all.is_exact = true;
    all.later_than = heard_from;
    all.committed_before = around_.source.wal_end();
    all.taken_at = life_.now().wall;
    const auto& events = around_.source.events();
    for (auto each = events.rbegin(); each != events.rend() && each->where.commit >= heard_from;
         ++each) {
        const bool is_letter = each->from == table::letters;
        if (!each->again && !each->excused && (!is_letter || life_.configured().letters)) {
            all.rows.push_back({is_letter ? 1U : 0U, each->id, each->created_at});
        }
    }
    return all;
}

relay::postgres_session relay_database::describe(const session_handle& of) {
    const auto timeout =
        std::chrono::duration_cast<std::chrono::milliseconds>(around_.how.sender_timeout);
    relay::postgres_session session{of->line().origin,
                                    relay::table_catalog(tables_of(life_.configured()),
                                                         around_.source.facts(life_.configured())),
                                    of->plugin(), timeout, of->began_at()};
    session.server = {of->line(), of->wal_end()};
    session.database = "app";
    session.witness = {around_.source.the_witness(), true, around_.source.witness_snapshot()};
    session.slot_began = around_.slot.slot_began();
    session.slot_has_earlier_rows = around_.slot.goes_on();
    session.newest_rows = newest_rows(of);
    session.dead_letters = letters_to_come();
    broker_.joined(session.server.line);
    return session;
}

std::optional<relay::roll> relay_database::newest_rows(const session_handle& of) {
    constexpr std::size_t rows_max = 400;
    const bool is_exact = around_.source.the_witness().has_value();
    if (!known_.newest_rows.are_due(of->began_at(), of->line().origin)) {
        return std::nullopt;
    }
    if (!known_.last_stored && !is_exact) {
        // An empty stream has no message that a row could have been stored before.
        around_.watch.on_roll_called({}, {}, {}, false);
        return std::nullopt;
    }
    const auto& events = around_.source.events();
    relay::roll all;
    all.is_exact = is_exact;
    all.later_than = around_.source.witness_snapshot();
    const auto later = std::find_if(events.begin(), events.end(), [&](const outbox_event& each) {
        return !is_exact || each.where.commit >= around_.source.witness_snapshot();
    });
    for (auto each = later; each != events.end(); ++each) {
        const bool is_letter = each->from == table::letters;
        if (!each->again && (!is_letter || life_.configured().letters)) {
            all.rows.push_back({is_letter ? 1U : 0U, each->id, each->created_at});
        }
    }
    if (all.rows.size() > rows_max) {
        // The first of them, and the newest.
        all.rows.erase(all.rows.begin() + rows_max / 2, all.rows.end() - rows_max / 2);
    }
    std::vector<std::string> ids;
    const auto begins = stream_begins();
    for (const auto& each : all.rows) {
        if (!is_exact || each.created_at > begins) {
            ids.push_back(each.id);
        }
    }
    const auto mark = relay::owner_in(known_.description).value_or(relay::stream_owner{});
    around_.watch.on_roll_called(ids, around_.the_broker.stream().messages(), mark.since,
                                 is_exact && mark.since <= all.later_than);
    life_.say("calls the roll of ", ids.size(), " rows, and must miss ",
              around_.watch.to_be_named().value_or("none"));
    all.committed_before = around_.source.wal_end();
    all.taken_at = life_.now().wall;
    return all;
}

/// Rows that were made before it may have had their messages among those that were removed.
wall_time relay_database::stream_begins() const {
    const auto& stream = around_.the_broker.stream();
    const auto* const first = stream.message(stream.first_sequence());
    if (stream.first_sequence() <= 1) {
        return wall_time::min();
    }
    return first == nullptr ? wall_time::max() : world::to_wall(first->stored_at);
}

std::vector<position> relay_database::letters_to_come() const {
    std::vector<position> all;
    for (const auto& [id, where] : around_.source.dead_letters()) {
        if (where.at.commit >= around_.slot.confirmed()) {
            all.push_back(where);
        }
    }
    return all;
}

void relay_database::close() {
    if (const auto closing = std::exchange(session_, nullptr)) {
        closing->close();
    }
    close_snapshot();
}

void relay_database::die() {
    close();
    if (const auto unseen = std::exchange(offered_, nullptr)) {
        unseen->close();
    }
}

void relay_database::finish() {
    life_.may_throw();
    finishing_ = true;
    if (session_) {
        session_->finish();
    }
    life_.happens_after(around_.how.postgres_latency,
                        [](relay::relay_driver& driver) { driver.postgres_finished(); });
}

// Reading.

void relay_database::send(const relay::send_status& status) {
    if (session_) {
        life_.may_throw();
        session_->send_status(status.bytes);
    }
}

void relay_database::resume_reading() {
    if (session_ && !finishing_ && session_->has_frame()) {
        around_.where.after(sim_time(0), life_.if_it_lasts([this] { read_frames(); }));
    }
    if (backfill_ && backfill_->ready && !finishing_) {
        around_.where.after(sim_time(0), life_.if_it_lasts([this] { feed_rows(); }));
    }
}

void relay_database::read_frames() {
    life_.happens([this](relay::relay_driver& driver) {
        if (finishing_) {
            return;
        }
        const auto some = around_.where.random().between(1, 20);
        if (!session_) {
            return;
        }
        some_frames frames(session_, some);
        static_cast<void>(driver.read_frames(frames));
    });
}

// Questions and writes.

bool relay_database::reaches(std::uint64_t server) const {
    return around_.source.is_up() && server == around_.source.incarnation();
}

void relay_database::look_for_rows(relay::look_for_rows wanted) {
    life_.may_throw();
    const auto takes = around_.where.random().between(sim_time(100), sim_time(50000));
    around_.where.after(takes, life_.if_it_lasts([this, wanted = std::move(wanted)] {
        std::vector<relay::roll_row> missing;
        const auto is_left = [this](const position& where) { return around_.has_left(where); };
        for (const auto& row : wanted.rows) {
            if (!around_.the_broker.stream().has(row.id, is_left) &&
                !around_.source.dead_letters().contains(row.id) &&
                !around_.source.is_left_out(row.id)) {
                missing.push_back(row);
            }
        }
        life_.happens([epoch = wanted.epoch, missing](relay::relay_driver& driver) {
            driver.rows_looked_for(epoch, missing);
        });
    }));
}

void relay_database::leave_out(relay::leave_out wanted) {
    life_.may_throw();
    for (const auto& row : wanted.rows) {
        around_.source.leave_out(row.id);
        around_.watch.on_left_out(row.id);
    }
    life_.happens([](relay::relay_driver& driver) { driver.rows_left_out({}); });
}

void relay_database::fetch_row(relay::fetch_row wanted) {
    life_.may_throw();
    constexpr type_oid text = 25;
    const auto takes = around_.where.random().between(sim_time(200), sim_time(20000));
    around_.where.after(
        takes, life_.if_it_lasts([this, wanted = std::move(wanted), server = server_] {
            result<std::optional<relay::table_row>> answer = cut_off();
            if (reaches(server)) {
                std::optional<relay::table_row> row;
                if (const auto found = around_.source.row_of(wanted.key)) {
                    row = relay::table_row{{{"id", text}, {"kind", text}, {"payload", text}},
                                           {found->id, found->kind, found->payload}};
                }
                answer = std::move(row);
            }
            life_.happens([epoch = wanted.epoch, answer](relay::relay_driver& driver) {
                driver.row_fetched(epoch, answer);
            });
        }));
}

void relay_database::look_at_table(relay::look_at_table wanted) {
    life_.may_throw();
    const auto takes = around_.where.random().between(sim_time(200), sim_time(20000));
    around_.where.after(
        takes, life_.if_it_lasts([this, wanted = std::move(wanted), server = server_] {
            result<table_sight> answer = cut_off();
            if (reaches(server)) {
                answer = around_.source.look_at(wanted.table, life_.configured());
            }
            life_.happens([epoch = wanted.epoch, answer](relay::relay_driver& driver) {
                driver.table_looked_at(epoch, answer);
            });
        }));
}

void relay_database::find_blocker(const relay::find_blocker& wanted) {
    life_.happens_after(sim_time(0), [wanted](relay::relay_driver& driver) {
        driver.blocker_found(wanted.epoch, wanted.what, std::string("a lock"));
    });
}

void relay_database::store_dead_letters(relay::store_dead_letters wanted) {
    life_.may_throw();
    const auto commits_after = around_.where.random().between(sim_time(200), sim_time(20000));
    around_.where.after(commits_after, [life = life_.weak_from_this(), around = around_,
                                        wanted = std::move(wanted), server = server_] {
        // What is on its way is committed also where the process has ended.
        auto stored = store(around, *wanted.letters, server);
        // The connection may end when they are committed and the relay has not heard of it.
        stored = stored && !around.where.strikes(around.how.rate(hazard::frame_cuts_connection));
        if (const auto lasts = life.lock(); lasts && !lasts->is_over()) {
            const auto answer = stored ? result<void>() : cut_off();
            lasts->happens([epoch = wanted.epoch, answer](relay::relay_driver& driver) {
                driver.dead_letters_stored(epoch, answer);
            });
        }
    });
}

/// Where one of them is refused, those before it have been committed one by one.
bool relay_database::store(const relay_surroundings& around, const relay::dead_letters& letters,
                           std::uint64_t server) {
    for (const auto& letter : letters) {
        if (server != around.source.incarnation() ||
            !around.source.store_dead_letter(letter, around.watch)) {
            return false;
        }
        if (letters.size() > 1 &&
            around.where.strikes(around.how.rate(hazard::frame_cuts_connection))) {
            return false;
        }
    }
    return true;
}

void relay_database::store_witness(relay::store_witness wanted) {
    life_.may_throw();
    const auto commits_after = around_.where.random().between(sim_time(200), sim_time(20000));
    around_.where.after(commits_after, [life = life_.weak_from_this(), around = around_,
                                        wanted = std::move(wanted), server = server_] {
        result<std::optional<std::uint64_t>> answer = cut_off();
        if (server == around.source.incarnation()) {
            answer = around.source.store_witness(wanted.what);
        }
        if (answer && around.where.strikes(around.how.rate(hazard::frame_cuts_connection))) {
            answer = cut_off();
        }
        if (const auto lasts = life.lock(); lasts && !lasts->is_over()) {
            lasts->happens([epoch = wanted.epoch, answer](relay::relay_driver& driver) {
                driver.witness_stored(epoch, answer);
            });
        }
    });
}

void relay_database::write_back(relay::write_back wanted) {
    life_.may_throw();
    const auto commits_after = around_.where.random().between(sim_time(200), sim_time(20000));
    around_.where.after(commits_after, [life = life_.weak_from_this(), around = around_,
                                        wanted = std::move(wanted), server = server_] {
        auto committed = server == around.source.incarnation() &&
                         around.source.write_back(wanted.batch, around.watch);
        committed =
            committed && !around.where.strikes(around.how.rate(hazard::frame_cuts_connection));
        if (const auto lasts = life.lock(); lasts && !lasts->is_over()) {
            const auto answer = committed ? result<void>() : cut_off();
            lasts->happens([epoch = wanted.epoch, answer](relay::relay_driver& driver) {
                driver.written_back(epoch, answer);
            });
        }
    });
}

void relay_database::store_halt(relay::store_halt wanted) {
    const auto commits_after = around_.where.random().between(sim_time(200), sim_time(20000));
    around_.where.after(commits_after, [life = life_.weak_from_this(), around = around_,
                                        reason = std::move(wanted.reason)] {
        around.source.keep_halt(reason);
        if (const auto lasts = life.lock(); lasts && !lasts->is_over()) {
            lasts->happens([](relay::relay_driver& driver) { driver.halt_stored(); });
        }
    });
}

}  // namespace walrelay::sim
