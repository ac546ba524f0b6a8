// The relay machine's part of the roll call: who is asked, who answers, and what follows from
// silence. The rules are those of relay/roll_call.

#include "relay/machine/relay_machine.hpp"
#include "relay/machine/relay_words.hpp"

#include <algorithm>
#include <utility>

namespace walrelay::relay {
namespace {

std::string some_of(const std::vector<roll_row>& rows) {
    constexpr std::size_t named = 5;
    std::string text;
    for (std::size_t index = 0; index < std::min(named, rows.size()); ++index) {
        text += (index == 0 ? "" : ", ") + rows[index].id;
    }
    return text + (rows.size() > named ? ", ..." : "");
}

error rows_are_missing(const relay_options& options, const std::vector<roll_row>& rows) {
    return {errc::gap_found,
            counted(rows.size(), "row") + " of the newest in the outbox tables " +
                (rows.size() == 1 ? "is" : "are") + " neither in stream " + options.stream +
                " nor in the dead letters, and slot " + options.slot +
                " does not bring them (message ids " + some_of(rows) +
                "). Either the slot moved past them (advanced, or dropped and made again), or the "
                "stream lost their messages (deleted, purged, max_age, max_msgs), or PostgreSQL "
                "did not send them (publication, row filter); there may be more of them",
            "set on_slot_loss = \"heal\" under [delivery] and start again, which publishes what "
            "the stream lacks from the table; or run walrelay verify, which names all of those "
            "rows, and then walrelay resume, to go on without them (or walrelay run "
            "--skip-roll-call once)"};
}

}  // namespace

void relay_machine::call_the_roll(const std::optional<roll>& asked, bool goes_on_without) {
    if (!asked) {
        return;
    }
    goes_on_without_ = goes_on_without;
    roll_call_.begin(*asked);
}

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

void relay_machine::note_delivered(const frame_read& read,
                                   const std::optional<commit_position>& newest_before) {
    if (read.dead) {
        roll_call_.delivered(read.dead->message_id);
    } else if (lane_->admitted() != newest_before) {
        roll_call_.delivered(lane_->newest().id);
    }
    if (read.ended) {
        end_roll_call(read.ended->end);
    } else if (read.alive && !intake_.in_transaction()) {
        end_roll_call(read.alive->end);
    }
}

void relay_machine::end_roll_call(lsn read_up_to) {
    if (lane_->claim()) {
        // Rows before the stream's last message are taken for stored, and its row need not come.
        return;
    }
    auto rows = roll_call_.slot_has_come_to(read_up_to);
    if (rows.empty()) {
        return;
    }
    log(log_severity::info, "startup check: looking for " + counted(rows.size(), "row") +
                                " of the newest in the outbox tables (message ids " +
                                some_of(rows) + ") in all of stream " + options_.stream +
                                " and in the dead letters, as its last messages do not show them");
    looked_for_ = std::move(rows);
    look_for_missing();
}

void relay_machine::look_for_missing() {
    if (!looked_for_.empty()) {
        actions_.emplace_back(look_for_rows{postgres_.epoch(), looked_for_});
    }
}

void relay_machine::rows_looked_for(std::uint64_t epoch,
                                    const result<std::vector<roll_row>>& missing, instant now) {
    if (phase_ != phase::running || epoch != postgres_.epoch() || !postgres_.is_up()) {
        // The next server can be another one, which never had them.
        return;
    }
    looked_for_.clear();
    if (!missing) {
        log(log_severity::warning, to_string(missing.error()) +
                                       "; so it is not known whether they are missing: walrelay "
                                       "verify tells");
    } else if (missing->empty()) {
        log(log_severity::info, "startup check: all of them are there");
    } else if (goes_on_without_) {
        log(log_severity::warning,
            "startup check: going on without " + counted(missing->size(), "row") +
                " that neither stream " + options_.stream +
                " nor the dead letters have, as an operator decided (message ids " +
                some_of(*missing) +
                "; all of them: SELECT message_id FROM walrelay.dead_letter WHERE retries = -1)");
        actions_.emplace_back(leave_out{*missing});
    } else {
        slot_has_gap(rows_are_missing(options_, *missing), now);
    }
}

void relay_machine::rows_left_out(const result<void>& kept) {
    if (!kept) {
        log(log_severity::warning, "the message ids of the rows that were left out are not kept: " +
                                       to_string(kept.error()) +
                                       "; the next start misses these rows again");
    }
}

}  // namespace walrelay::relay
