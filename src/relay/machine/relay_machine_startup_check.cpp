// The relay machine's events of the startup check; the rules are those of startup_check.

#include "relay/machine/relay_machine.hpp"

#include <utility>

namespace walrelay::relay {

std::vector<std::uint64_t> relay_machine::of_other_rules(const stream_facts& facts) const {
    const auto& mark = mark_.known();
    std::vector<std::uint64_t> sequences;
    if (!mark || mark->rules.empty()) {
        return sequences;
    }
    if (has_new_tables()) {
        for (const auto& each : facts.recent) {
            sequences.push_back(each.sequence);
        }
        return sequences;
    }
    const lineage line{{mark->system_identifier, mark->timeline}, mark->ancestors};
    // By their rows: one of long ago can have come late, and a branch that was left used the LSNs.
    for (const auto& each : facts.placed) {
        if (each.where.at.commit < mark->since || !line.shares(each.where)) {
            sequences.push_back(each.sequence);
        }
    }
    return sequences;
}

bool relay_machine::began_to_relay_after(lsn where) const {
    const auto& mark = mark_.known();
    return mark && !mark->rules.empty() && mark->since > where;
}

void relay_machine::note_delivered(const frame_read& read,
                                   const std::optional<commit_position>& newest_before,
                                   instant now) {
    if (read.dead) {
        startup_check_.delivered(read.dead->message_id);
    } else if (lane_->admitted() != newest_before) {
        startup_check_.delivered(lane_->newest().id);
    }
    if (!startup_check_.is_open()) {
        return;  // it only hears
    }
    if (read.ended) {
        slot_has_come_to(read.ended->end, now);
    } else if (read.alive && !intake_.in_transaction()) {
        slot_has_come_to(read.alive->end, now);
    }
}

void relay_machine::slot_has_come_to(lsn where, instant now) {
    startup_check_.note_place(where);
    if (lane_->claim() || !checkpoint_.may_publish()) {
        // The stream is not judged yet. Rows before the stream's last message are taken for stored,
        // and its row need not come.
        return;
    }
    if (auto line = startup_check_.slot_has_come_to(where)) {
        log(std::move(*line));
        look_for_missing();
    } else if (!startup_check_.is_open()) {
        startup_check_is_over(0, now);
    }
}

bool relay_machine::hear_new_rows(std::uint64_t epoch) {
    const bool streams = life_.is_running() && epoch == postgres_.epoch() && postgres_.is_up() &&
                         !backfilling_.is_open() && !lane_->claim() && checkpoint_.may_publish();
    return streams && startup_check_.hear();
}

void relay_machine::new_rows_called(std::uint64_t epoch, const roll& asked, instant now) {
    if (!life_.is_running() || epoch != postgres_.epoch() || !postgres_.is_up() ||
        !startup_check_.is_hearing()) {
        return;
    }
    startup_check_.begin(asked, false);
    if (!startup_check_.is_open()) {
        startup_check_.is_over();
        watch_.startup_check_ended(0, now);
    }
}

void relay_machine::look_for_missing() {
    if (const auto& rows = startup_check_.looked_for(); !rows.empty()) {
        actions_.emplace_back(look_for_rows{postgres_.epoch(), rows});
    }
}

void relay_machine::rows_looked_for(std::uint64_t epoch,
                                    const result<std::vector<roll_row>>& missing, instant now) {
    using verdict = startup_check::verdict;
    if (!life_.is_running() || epoch != postgres_.epoch() || !postgres_.is_up()) {
        // The next server can be another one, which never had them.
        return;
    }
    const auto what = startup_check_.answered(missing);
    if (what == verdict::doubted) {
        read_tail_again();
        return;
    }
    if (what == verdict::gap) {
        watch_.startup_check_ended(missing->size(), now);
        slot_has_gap(startup_check_.gap(*missing), now);
        return;
    }
    log(startup_check_.describe(what, missing));
    if (what == verdict::left_out) {
        actions_.emplace_back(leave_out{*missing});
    }
    if (what != verdict::not_known) {
        startup_check_is_over(missing->size(), now);
    } else if (checkpoint_.is_slot_in_question()) {
        // Not known is not proved: it is asked again.
        lose_postgres(missing.error(), now);
    }
}

void relay_machine::startup_check_is_over(std::size_t missing, instant now) {
    watch_.startup_check_ended(missing, now);
    startup_check_.is_over();
    checkpoint_.newest_rows_are_there();
    report_confirmed(now);
}

void relay_machine::rows_left_out(const result<void>& kept) {
    if (!kept) {
        log<"left_out_not_kept">("the message ids of the rows that were left out are not kept: " +
                                     to_string(kept.error()) +
                                     "; the next start misses these rows again",
                                 with<"error">(kept.error().code));
    }
}

}  // namespace walrelay::relay
