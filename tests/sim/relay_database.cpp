// A relay's dealings with PostgreSQL, as app/postgres_side.cpp and app/relay_driver_postgres.cpp
// have them.

#include "sim/relay_process.hpp"

#include <utility>

namespace walrelay::sim {

void relay_process::connect_postgres(const relay::connect_postgres& wanted) {
    postgres_epoch_ = wanted.epoch;
    const bool gap = wanted.gap || around_.source.halt();
    if (around_.how.backfills && (gap || !around_.slot.exists())) {
        connect_snapshot(wanted.epoch, around_.slot.exists());
    } else {
        connect_slot(wanted.epoch);
    }
}

namespace {

/// As the server's words tell by the number of its process.
result<session_handle> not_released() {
    return error{errc::slot_not_released, "the slot is still held for the last connection"};
}

}  // namespace

void relay_process::connect_slot(std::uint64_t epoch) {
    replication_events events;
    events.on_readable = [this, life = life_] {
        if (life == life_) {
            read_frames();
        }
    };
    events.on_lost = [this, life = life_, epoch](const error& why) {
        if (life == life_ && !finishing_) {
            happens([this, epoch, why](relay::relay_machine& machine) {
                machine.postgres_failed(epoch, why, now());
            });
        }
    };
    around_.slot.connect(
        std::move(events), [this, life = life_, epoch](const result<session_handle>& answer) {
            if (life != life_) {
                if (answer) {
                    (*answer)->close();
                }
                return;
            }
            offered_ = answer ? *answer : nullptr;
            const bool is_own = !answer && answer.error().code == errc::slot_in_use &&
                                around_.slot.is_held_by(earlier_);
            earlier_ = answer ? *answer : earlier_;
            happens([this, epoch, answer, is_own](relay::relay_machine&) {
                offered_ = nullptr;
                postgres_answered(epoch, is_own ? not_released() : answer);
            });
        });
}

void relay_process::postgres_answered(std::uint64_t epoch, const result<session_handle>& answer) {
    if (epoch != postgres_epoch_) {
        if (answer) {
            (*answer)->close();
        }
        return;
    }
    if (!answer) {
        machine_->postgres_failed(epoch, answer.error(), now());
        return;
    }
    if (const auto& halt = around_.source.halt(); halt && !around_.how.backfills) {
        (*answer)->close();
        machine_->postgres_failed(epoch, {errc::halted, "the slot is halted: " + *halt}, now());
        return;
    }
    postgres_ = *answer;
    const auto timeout =
        std::chrono::duration_cast<std::chrono::milliseconds>(around_.how.sender_timeout);
    relay::postgres_session session{
        (*answer)->line().origin,
        relay::table_catalog(tables_of(configured_), around_.source.facts(configured_)),
        (*answer)->plugin(), timeout, (*answer)->began_at()};
    session.server = {(*answer)->line(), (*answer)->wal_end()};
    session.database = "app";
    session.newest_rows = newest_rows();
    session.goes_on_without = goes_on_without_;
    session.dead_letters = letters_to_come();
    joined_ = session.server.line;
    server_ = (*answer)->incarnation();
    has_streamed_ = true;
    machine_->postgres_connected(epoch, std::move(session), now());
}

std::optional<relay::roll> relay_process::newest_rows() {
    constexpr std::size_t rows_max = 100;
    // Once in the life of a relay.
    if (!std::exchange(calls_roll_, false)) {
        return std::nullopt;
    }
    const auto& events = around_.source.events();
    relay::roll all;
    for (auto each = events.rbegin(); each != events.rend() && all.rows.size() < rows_max; ++each) {
        const bool is_letter = each->from == table::letters;
        if (!each->again && (!is_letter || configured_.letters)) {
            all.rows.push_back({is_letter ? 1U : 0U, each->id, each->created_at});
        }
    }
    std::vector<std::string> ids;
    for (const auto& each : all.rows) {
        ids.push_back(each.id);
    }
    const auto mark = relay::owner_in(description_).value_or(relay::stream_owner{});
    around_.watch.on_roll_called(ids, around_.the_broker.stream().messages(), mark.since);
    around_.where.say(name_, ": calls the roll of ", ids.size(), " rows, and must miss ",
                      around_.watch.to_be_named().value_or("none"));
    all.committed_before = around_.source.wal_end();
    all.taken_at = now().wall;
    return all;
}

std::vector<position> relay_process::letters_to_come() const {
    std::vector<position> all;
    for (const auto& [id, where] : around_.source.dead_letters()) {
        if (where.at.commit >= around_.slot.confirmed()) {
            all.push_back(where);
        }
    }
    return all;
}

void relay_process::look_for_rows(const relay::look_for_rows& wanted) {
    const auto takes = around_.where.random().between(sim_time(100), sim_time(50000));
    around_.where.after(takes, for_this_life([this, wanted] {
                            std::vector<relay::roll_row> missing;
                            for (const auto& row : wanted.rows) {
                                if (!around_.the_broker.stream().has(row.id) &&
                                    !around_.source.dead_letters().contains(row.id) &&
                                    !around_.source.is_left_out(row.id)) {
                                    missing.push_back(row);
                                }
                            }
                            happens([this, wanted, missing](relay::relay_machine& machine) {
                                machine.rows_looked_for(wanted.epoch, missing, now());
                            });
                        }));
}

void relay_process::leave_out(const relay::leave_out& wanted) {
    for (const auto& row : wanted.rows) {
        around_.source.leave_out(row.id);
        around_.watch.on_left_out(row.id);
    }
    happens([](relay::relay_machine& machine) { machine.rows_left_out({}); });
}

void relay_process::fetch_row(const relay::fetch_row& wanted) {
    constexpr type_oid text = 25;
    const auto takes = around_.where.random().between(sim_time(200), sim_time(20000));
    around_.where.after(
        takes, for_this_life([this, wanted, server = server_] {
            const bool reached = around_.source.is_up() && server == around_.source.incarnation();
            const auto found = around_.source.row_of(wanted.key);
            happens([this, wanted, reached, found](relay::relay_machine& machine) {
                if (!reached) {
                    machine.row_not_fetched(wanted.epoch,
                                            {errc::postgres_lost, "the connection ended"}, now());
                    return;
                }
                std::optional<relay::table_row> row;
                if (found) {
                    row = relay::table_row{{{"id", text}, {"kind", text}, {"payload", text}},
                                           {found->id, found->kind, found->payload}};
                }
                machine.row_fetched(wanted.epoch, std::move(row), now());
            });
        }));
}

void relay_process::look_at_table(const relay::look_at_table& wanted) {
    const auto takes = around_.where.random().between(sim_time(200), sim_time(20000));
    around_.where.after(
        takes, for_this_life([this, wanted, server = server_] {
            const bool reached = around_.source.is_up() && server == around_.source.incarnation();
            const auto seen = around_.source.look_at(wanted.table, configured_);
            happens([this, wanted, reached, seen](relay::relay_machine& machine) {
                if (reached) {
                    machine.table_looked_at(wanted.epoch, seen, now());
                    return;
                }
                machine.table_looked_at(wanted.epoch,
                                        error{errc::postgres_lost, "the connection ended"}, now());
            });
        }));
}

void relay_process::read_frames() {
    happens([this](relay::relay_machine& machine) {
        if (finishing_) {
            return;
        }
        // One read of the socket holds some of the frames.
        auto frames = around_.where.random().between(1, 20);
        while (frames-- > 0 && postgres_ && postgres_->has_frame() && machine.wants_frames()) {
            machine.frame_arrived(postgres_->take_frame(), now());
        }
    });
}

void relay_process::set_aside(const relay::store_dead_letters& poison) {
    const auto commits_after = around_.where.random().between(sim_time(200), sim_time(20000));
    around_.where.after(commits_after, [this, life = life_, epoch = poison.epoch,
                                        letters = poison.letters, server = server_] {
        auto stored = store(*letters, server);
        // The connection may end when they are committed and the relay has not heard of it.
        stored = stored && !around_.where.strikes(around_.how.rate(hazard::frame_cuts_connection));
        if (life == life_) {
            happens([this, epoch, stored](relay::relay_machine&) {
                dead_letters_answered(epoch, stored);
            });
        }
    });
}

/// Where one of them is refused, those before it have been committed one by one.
bool relay_process::store(const relay::dead_letters& letters, std::uint64_t server) {
    for (const auto& letter : letters) {
        if (server != around_.source.incarnation() ||
            !around_.source.store_dead_letter(letter, around_.watch)) {
            return false;
        }
        if (letters.size() > 1 &&
            around_.where.strikes(around_.how.rate(hazard::frame_cuts_connection))) {
            return false;
        }
    }
    return true;
}

void relay_process::dead_letters_answered(std::uint64_t epoch, bool stored) {
    if (stored) {
        machine_->dead_letters_stored(epoch, now());
    } else {
        machine_->dead_letters_failed(
            epoch, {errc::postgres_lost, "the connection ended before the commit"}, now());
    }
}

void relay_process::write_back(const relay::write_back& rows) {
    const auto commits_after = around_.where.random().between(sim_time(200), sim_time(20000));
    around_.where.after(commits_after, [this, life = life_, rows, server = server_] {
        auto committed = server == around_.source.incarnation() &&
                         around_.source.write_back(rows.batch, around_.watch);
        committed =
            committed && !around_.where.strikes(around_.how.rate(hazard::frame_cuts_connection));
        if (life != life_) {
            return;
        }
        happens([this, epoch = rows.epoch, committed](relay::relay_machine& machine) {
            if (committed) {
                machine.written_back(epoch, now());
                return;
            }
            machine.write_back_failed(
                epoch, {errc::postgres_lost, "the connection ended before the commit"}, now());
        });
    });
}

void relay_process::store_halt(const relay::store_halt& halt) {
    const auto commits_after = around_.where.random().between(sim_time(200), sim_time(20000));
    around_.where.after(commits_after, [this, life = life_, reason = halt.reason] {
        around_.source.keep_halt(reason);
        if (life == life_) {
            happens([this](relay::relay_machine& machine) { machine.halt_stored(now()); });
        }
    });
}

void relay_process::close_postgres() {
    postgres_epoch_ = 0;
    if (const auto closing = std::exchange(postgres_, nullptr)) {
        closing->close();
    }
    close_snapshot();
}

void relay_process::finish_postgres() {
    finishing_ = true;
    if (postgres_) {
        postgres_->finish();
    }
    around_.where.after(
        around_.how.postgres_latency, for_this_life([this] {
            happens([](relay::relay_machine& machine) { machine.postgres_finished(); });
        }));
}

}  // namespace walrelay::sim
