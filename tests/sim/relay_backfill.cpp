// A relay's dealings with rows that come before the slot's, as app/backfill_source.cpp has them.

#include "sim/relay_process.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

namespace walrelay::sim {

void relay_process::connect_snapshot(std::uint64_t epoch, bool replace) {
    close_snapshot();
    backfill_ = backfilling{{}, {}, 0, false, false};
    const auto lost = [this, life = life_, epoch](const error& why) {
        if (life == life_) {
            happens([this, epoch, why](relay::relay_machine& machine) {
                machine.postgres_failed(epoch, why, now());
            });
        }
    };
    around_.slot.connect_snapshot(
        replace, lost, [this, life = life_, epoch](const result<snapshot_handle>& answer) {
            if (life != life_ || epoch != postgres_epoch_ || !backfill_) {
                if (answer) {
                    around_.slot.close(*answer);
                }
                return;
            }
            if (answer) {
                backfill_->slot = *answer;
            }
            const auto looks = around_.where.random().between(sim_time(100), sim_time(50000));
            around_.where.after(looks, for_this_life([this, epoch, answer] {
                                    happens([this, epoch, answer](relay::relay_machine&) {
                                        snapshot_answered(epoch, answer);
                                    });
                                }));
        });
}

void relay_process::snapshot_answered(std::uint64_t epoch, const result<snapshot_handle>& answer) {
    if (epoch != postgres_epoch_ || !backfill_) {
        return;
    }
    if (!answer) {
        backfill_.reset();
        machine_->postgres_failed(epoch, answer.error(), now());
        return;
    }
    // From a server that is behind, perhaps.
    const auto& all = around_.the_broker.stream().messages();
    auto seen = all.size();
    if (around_.where.strikes(around_.how.rate(hazard::tail_stale))) {
        seen -= std::min<std::size_t>(seen, around_.where.random().between(1, 5));
    }
    const auto& letters = around_.source.dead_letters();
    std::set<std::string> held;
    for (const auto& each : letters) {
        held.insert(each.first);
    }
    for (std::size_t each = 0; each < seen; ++each) {
        held.insert(all[each].id);
    }
    const auto begins = backfill_->slot->consistent_point;
    const auto& events = around_.source.events();
    for (std::size_t each = 0; each < events.size() && events[each].where.commit < begins; ++each) {
        if (events[each].from == table::letters && !configured_.letters) {
            continue;
        }
        const bool published = held.contains(events[each].id);
        if (!published || (around_.how.write_backs && !letters.contains(events[each].id))) {
            backfill_->rows.push_back({each, published});
        }
    }
    backfill_->ready = true;
    around_.where.say(name_, ": ", backfill_->rows.size(), " rows before ", to_string(begins),
                      ", with the stream up to ", seen);
    relay::postgres_session session;
    session.origin = around_.source.line().origin;
    session.server = {around_.source.line(), around_.source.wal_end()};
    joined_ = session.server.line;
    server_ = around_.source.incarnation();
    session.database = "app";
    session.catalog =
        relay::table_catalog(tables_of(configured_), around_.source.facts(configured_));
    session.rows_first = {begins, seen, "snapshot", backfill_->rows.size()};
    machine_->postgres_connected(epoch, std::move(session), now());
}

void relay_process::feed_rows() {
    happens([this](relay::relay_machine& machine) {
        auto rows = around_.where.random().between(1, 20);
        while (rows-- > 0 && backfill_ && backfill_->ready && !finishing_ && machine.wants_rows()) {
            feed_row(machine);
        }
    });
}

void relay_process::feed_row(relay::relay_machine& machine) {
    constexpr type_oid text = 25;
    static const std::vector<column> columns{{"id", text}, {"kind", text}, {"payload", text}};
    static const std::array<relation, 2> tables{
        {{"public", "outbox", columns, 1}, {"public", "letters", columns, 2}}};
    if (backfill_->next == backfill_->rows.size()) {
        machine.rows_ended(now());
        return;
    }
    const auto [index, published] = backfill_->rows[backfill_->next++];
    const auto& event = around_.source.events()[index];
    const std::size_t which = event.from == table::letters ? 1 : 0;
    const auto kind = std::string_view(event.subject).substr(event.subject.find('.') + 1);
    const std::vector<field> values{event.id, kind, event.body};
    machine.row_arrived(which, {&tables.at(which), values}, published, now());
}

void relay_process::adopt_slot(std::uint64_t epoch) {
    around_.where.after(around_.how.postgres_latency, for_this_life([this, epoch] {
                            if (epoch != postgres_epoch_ || !backfill_ || !backfill_->slot) {
                                return;
                            }
                            const auto adopted = around_.slot.adopt(*backfill_->slot);
                            if (adopted) {
                                around_.source.end_halt();
                            }
                            happens([this, epoch, adopted](relay::relay_machine& machine) {
                                if (adopted) {
                                    machine.slot_adopted(epoch, now());
                                } else {
                                    machine.postgres_failed(epoch, adopted.error(), now());
                                }
                            });
                        }));
}

void relay_process::close_snapshot() {
    if (const auto closing = std::exchange(backfill_, std::nullopt); closing && closing->slot) {
        around_.slot.close(closing->slot);
    }
}

}  // namespace walrelay::sim
