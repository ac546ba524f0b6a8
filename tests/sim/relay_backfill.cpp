// A relay's dealings with rows that come before the slot's, as tasks/backfill has them.

#include "sim/relay_database.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

namespace walrelay::sim {

/// The driver may take so many rows, as if no more had been fetched.
class relay_database::some_rows final : public relay::row_source {
public:
    some_rows(const relay_surroundings& around, backfilling& from, std::uint64_t how_many)
        : around_(around), from_(from), left_(how_many) {}

    [[nodiscard]] std::optional<relay::backfill_row> next_row() override {
        constexpr type_oid text = 25;
        static const std::vector<column> columns{{"id", text}, {"kind", text}, {"payload", text}};
        static const std::array<relation, 2> tables{
            {{"public", "outbox", columns, 1}, {"public", "letters", columns, 2}}};
        if (left_ == 0 || from_.next == from_.rows.size()) {
            return std::nullopt;
        }
        --left_;
        const auto [index, published] = from_.rows[from_.next++];
        const auto& event = around_.source.events()[index];
        const std::size_t which = event.from == table::letters ? 1 : 0;
        const auto kind = std::string_view(event.subject).substr(event.subject.find('.') + 1);
        values_ = {event.id, kind, event.body};
        return relay::backfill_row{which, {&tables.at(which), values_}, published};
    }

private:
    const relay_surroundings& around_;
    backfilling& from_;
    std::uint64_t left_;
    std::vector<field> values_;
};

void relay_database::connect_snapshot(std::uint64_t epoch, bool replace) {
    close_snapshot();
    backfill_ = backfilling{epoch};
    const auto lost = [this, life = life_.weak_from_this(), epoch](const error& why) {
        if (const auto lasts = life.lock(); lasts && !lasts->is_over()) {
            life_.happens(
                [epoch, why](relay::relay_driver& driver) { driver.postgres_failed(epoch, why); });
        }
    };
    around_.slot.connect_snapshot(
        replace, lost,
        [this, &slot = around_.slot, life = life_.weak_from_this(),
         epoch](const result<snapshot_handle>& answer) {
            const auto lasts = life.lock();
            if (!lasts || lasts->is_over() || !backfill_ || backfill_->epoch != epoch) {
                if (answer) {
                    slot.close(*answer);
                }
                return;
            }
            if (answer) {
                backfill_->slot = *answer;
            }
            const auto given = as_told(answer);
            const auto looks = around_.where.random().between(sim_time(100), sim_time(50000));
            life_.happens_after(looks, [this, epoch, given](relay::relay_driver& driver) {
                snapshot_answered(epoch, given, driver);
            });
        });
}

void relay_database::snapshot_answered(std::uint64_t epoch, const result<snapshot_handle>& answer,
                                       relay::relay_driver& driver) {
    if (!driver.wants_postgres(epoch) || !backfill_ || backfill_->epoch != epoch) {
        return;
    }
    if (!answer) {
        backfill_.reset();
        driver.postgres_failed(epoch, answer.error());
        return;
    }
    // From a server that is behind, perhaps.
    auto seen = around_.the_broker.stream().messages().size();
    if (around_.where.strikes(around_.how.rate(hazard::tail_stale))) {
        seen -= std::min<std::size_t>(seen, around_.where.random().between(1, 5));
    }
    const auto begins = backfill_->slot->consistent_point;
    find_rows(begins, seen);
    backfill_->ready = true;
    life_.say(backfill_->rows.size(), " rows before ", to_string(begins),
              ", with the stream up to ", seen);
    relay::postgres_session session;
    session.origin = around_.source.line().origin;
    session.server = {around_.source.line(), around_.source.wal_end()};
    broker_.joined(session.server.line);
    server_ = around_.source.incarnation();
    session.database = "app";
    session.catalog = relay::table_catalog(tables_of(life_.configured()),
                                           around_.source.facts(life_.configured()));
    session.witness = {around_.source.the_witness(), true, around_.source.witness_snapshot()};
    session.rows_first = {begins, seen, "snapshot", backfill_->rows.size()};
    driver.postgres_connected(epoch, std::move(session), std::nullopt);
}

/// Those that the first messages of the stream, so many of them, do not have.
void relay_database::find_rows(lsn before, std::size_t seen) {
    const auto& all = around_.the_broker.stream().messages();
    const auto& letters = around_.source.dead_letters();
    std::set<std::string> held;
    for (const auto& each : letters) {
        held.insert(each.first);
    }
    for (std::size_t each = 0; each < seen; ++each) {
        const auto where = parse_position(all[each].position);
        if (!where || !around_.has_left(*where)) {
            held.insert(all[each].id);
        }
    }
    const auto& events = around_.source.events();
    for (std::size_t each = 0; each < events.size() && events[each].where.commit < before; ++each) {
        if (events[each].from == table::letters && !life_.configured().letters) {
            continue;
        }
        const bool published = held.contains(events[each].id);
        if (!published || (around_.how.write_backs && !letters.contains(events[each].id))) {
            backfill_->rows.push_back({each, published});
        }
    }
}

void relay_database::feed_rows() {
    life_.happens([this](relay::relay_driver& driver) {
        const auto some = around_.where.random().between(1, 20);
        if (!backfill_ || !backfill_->ready || finishing_ || !driver.machine().wants_rows()) {
            return;
        }
        const auto left = backfill_->rows.size() - backfill_->next;
        some_rows rows(around_, *backfill_, some);
        const auto turn = driver.read_rows(rows);
        if (turn == relay::relay_driver::reading::dry && backfill_ && left < some) {
            driver.rows_ended();
        }
    });
}

void relay_database::adopt_slot(const relay::adopt_slot& wanted) {
    life_.may_throw();
    life_.happens_after(around_.how.postgres_latency,
                        [this, epoch = wanted.epoch](relay::relay_driver& driver) {
                            if (!driver.wants_postgres(epoch) || !backfill_ || !backfill_->slot) {
                                return;
                            }
                            const auto adopted = around_.slot.adopt(*backfill_->slot);
                            if (adopted) {
                                around_.source.end_halt();
                                driver.slot_adopted(epoch);
                            } else {
                                driver.postgres_failed(epoch, adopted.error());
                            }
                        });
}

void relay_database::close_snapshot() {
    if (const auto closing = std::exchange(backfill_, std::nullopt); closing && closing->slot) {
        around_.slot.close(closing->slot);
    }
}

}  // namespace walrelay::sim
