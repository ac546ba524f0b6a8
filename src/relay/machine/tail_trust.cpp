#include "relay/machine/tail_trust.hpp"

#include "core/finding.hpp"

#include <algorithm>
#include <limits>

namespace walrelay::relay {
namespace {

std::string name_of(const tail_question& asked) {
    return "stream " + asked.stream + " ends with sequence " +
           std::to_string(asked.tail.last_sequence) + ", position " +
           to_string(*asked.tail.checkpoint());
}

error refusal(std::string what) {
    return {errc::tail_not_met, std::move(what), how_to_accept_history};
}

error younger(const tail_question& asked, std::uint32_t timeline) {
    return refusal("the server is on timeline " +
                   std::to_string(asked.server.line.origin.timeline) + ", and stream " +
                   asked.stream + " has messages of timeline " + std::to_string(timeline) +
                   ", which came later: this is an old primary, or a copy of one; nothing of it "
                   "was published");
}

error foreign(const tail_question& asked, std::uint32_t timeline) {
    return refusal("timeline " + std::to_string(asked.server.line.origin.timeline) +
                   " of the server does not descend from the timeline " + std::to_string(timeline) +
                   " that stream " + asked.stream +
                   " was filled from: another standby was promoted; nothing of it was published");
}

error beyond(const tail_question& asked) {
    return refusal(name_of(asked) + ", which lies beyond the WAL of the server (it ends at " +
                   to_string(asked.server.wal_end) +
                   "): the server was restored from a copy, or the message is forged; nothing "
                   "was published or confirmed since");
}

bool is_prefix(const std::vector<timeline_end>& part, const std::vector<timeline_end>& whole) {
    return part.size() <= whole.size() && std::equal(part.begin(), part.end(), whole.begin());
}

/// Whether the server's history goes on from an earlier one of the same system, or is the same.
bool goes_on_from(std::uint32_t timeline, const std::vector<timeline_end>& ancestors,
                  const lineage& line) {
    if (timeline == line.origin.timeline) {
        // A server can have lost the file of its history.
        return ancestors == line.ancestors || ancestors.empty() || line.ancestors.empty();
    }
    return line.end_of(timeline) && is_prefix(ancestors, line.ancestors);
}

bool is_of_this_system(const tail_question& asked) {
    return asked.mark && asked.mark->timeline != 0 &&
           asked.mark->system_identifier == asked.server.line.origin.system_identifier;
}

std::optional<error> refuse_timeline(const tail_question& asked) {
    const auto& line = asked.server.line;
    if (is_of_this_system(asked) &&
        !goes_on_from(asked.mark->timeline, asked.mark->ancestors, line)) {
        return asked.mark->timeline > line.origin.timeline ? younger(asked, asked.mark->timeline)
                                                           : foreign(asked, asked.mark->timeline);
    }
    const auto& where = asked.tail.checkpoint();
    // A relay of this history has gone on after it, which an operator had accepted.
    const bool is_accepted =
        is_of_this_system(asked) &&
        asked.tail.checkpoint_sequence() <= asked.mark->disordered_until.value_or(0);
    if (where && !is_accepted && where->origin.system_identifier == line.origin.system_identifier &&
        !line.includes(where->origin.timeline)) {
        return where->origin.timeline > line.origin.timeline
                   ? younger(asked, where->origin.timeline)
                   : foreign(asked, where->origin.timeline);
    }
    return std::nullopt;
}

/// Whether every row still has the message id that it had: then the id tells it from one of another
/// history that had its place, also where two promotions have left no other difference.
bool same_ids(const tail_question& asked) {
    if (!asked.mark || asked.mark->rules.empty()) {
        return true;  // an earlier version's, whose configuration is taken over
    }
    return asked.mark->rules == asked.rules && asked.slot_confirmed >= asked.mark->since;
}

bool same_rules(const tail_question& asked) {
    const auto& mark = asked.mark;
    return mark && mark->rules == asked.rules && same_ids(asked) && is_of_this_system(asked) &&
           mark->timeline == asked.server.line.origin.timeline;
}

/// Whether positions of this history do not ascend where they should.
bool is_out_of_order(const tail_question& asked) {
    constexpr auto nowhere = std::numeric_limits<std::uint64_t>::max();
    const auto after = asked.mark ? asked.mark->disordered_until.value_or(nowhere) : 0;
    const placed_message* before = nullptr;
    for (const auto& each : asked.tail.placed) {
        if (each.sequence <= after || !asked.server.line.shares(each.where)) {
            continue;
        }
        if (before != nullptr && before->where.at >= each.where.at) {
            return true;
        }
        // After a disorder come rows that are not of it.
        if (before == nullptr && after > 0 &&
            each.where.at.commit.value + 1 < asked.mark->disordered_below.value) {
            return true;
        }
        before = &each;
    }
    return false;
}

std::string why_compared(const tail_question& asked) {
    const auto& mark = asked.mark;
    if (!mark || mark->rules.empty()) {
        return "it is not known under which configuration its last messages were published";
    }
    if (is_shared(*mark)) {
        return "nats.sole_writer was false before";
    }
    if (is_being_compared(*mark)) {
        return "an earlier comparison has not ended";
    }
    if (mark->rules != asked.rules) {
        return "the configured tables have changed";
    }
    if (asked.slot_confirmed < mark->since) {
        return "the slot has gone back to where other tables were configured";
    }
    if (asked.slot_confirmed < mark->disordered_below) {
        return "the slot has gone back to before an earlier comparison ended";
    }
    if (asked.mark->timeline == asked.server.line.origin.timeline) {
        return "its last message can be of another configuration";
    }
    return "the server has another timeline than before";
}

/// Where the mark says that rows are to be compared, whatever the stream ends with.
std::optional<tail_answer> compare_as_marked(const tail_question& asked) {
    using kind = tail_answer::kind;
    if (!is_of_this_system(asked)) {
        return std::nullopt;
    }
    if (is_being_compared(*asked.mark)) {
        // Positions are in no order where rows were published that had been left out.
        return tail_answer{
            kind::compare, {}, why_compared(asked), is_compared_with_ids(*asked.mark)};
    }
    if (is_shared(*asked.mark)) {
        // What stands behind somebody else's message was stored too, and the checkpoint is not it.
        return tail_answer{kind::compare, {}, why_compared(asked), same_ids(asked)};
    }
    return std::nullopt;
}

}  // namespace

std::optional<error> refuse_history(const tail_question& asked) {
    if (asked.accepts_history) {
        return std::nullopt;
    }
    return refuse_timeline(asked);
}

std::optional<error> refuse_successor(const lineage& before, const lineage& now) {
    if (before.origin.system_identifier != now.origin.system_identifier ||
        goes_on_from(before.origin.timeline, before.ancestors, now)) {
        return std::nullopt;
    }
    return refusal("timeline " + std::to_string(now.origin.timeline) +
                   " of the server does not descend from the timeline " +
                   std::to_string(before.origin.timeline) +
                   " that this relay has read before: this is an old primary, or another standby "
                   "was promoted; nothing of it was published");
}

tail_answer judge(const tail_question& asked) {
    using kind = tail_answer::kind;
    if (asked.accepts_history) {
        return {kind::compare, {}, "the history of the database was accepted", true};
    }
    if (auto why = refuse_timeline(asked)) {
        return {kind::refused, std::move(why)};
    }
    if (auto compared = compare_as_marked(asked)) {
        return *std::move(compared);
    }
    const auto& where = asked.tail.checkpoint();
    const auto& line = asked.server.line;
    if (!where || where->origin.system_identifier != line.origin.system_identifier) {
        return {kind::nothing};
    }
    if (!line.shares(*where)) {
        return {kind::compare,
                {},
                "its last messages are of a branch that was left at a promotion",
                same_ids(asked)};
    }
    if (where->at.commit >= asked.server.wal_end) {
        return {kind::refused, beyond(asked)};
    }
    constexpr auto out_of_order = "its last messages are not in the order of their positions";
    if (asked.tail.mixed || is_out_of_order(asked)) {
        return {kind::compare, {}, out_of_order, true};
    }
    const bool is_of_before =
        asked.mark && asked.tail.checkpoint_sequence() <= asked.mark->disordered_until.value_or(0);
    // A crash can have set it back to before a comparison ended, which passed over rows that the
    // slot did not send then.
    const bool slot_is_amid_disorder =
        asked.mark && asked.slot_confirmed < asked.mark->disordered_below;
    // Without a mark, as of a stream that was copied, nothing says that no row came late.
    const bool slot_is_past = asked.mark && where->at.commit < asked.slot_confirmed &&
                              !(is_of_before && slot_is_amid_disorder);
    if (slot_is_past || is_of_a_snapshot(where->at)) {
        return {kind::exact};
    }
    const auto& last = asked.tail.final_position;
    if (!asked.tail.shared && last && line.shares(*last) && last->at < where->at) {
        return {kind::compare, {}, out_of_order, true};
    }
    if (!same_rules(asked) || is_of_before || slot_is_amid_disorder || counts_events(where->at)) {
        return {kind::compare, {}, why_compared(asked), same_ids(asked)};
    }
    return {kind::claim};
}

std::vector<finding> tail_findings(const tail_question& asked, bool sole_writer) {
    using kind = tail_answer::kind;
    findings_list found;
    if (!sole_writer) {
        if (const auto why = refuse_history(asked)) {
            found.error("history_refused", why->what, why->remedy);
        }
        return found.take();
    }
    const auto answer = judge(asked);
    if (answer.what == kind::refused) {
        found.error("history_refused", answer.why->what, answer.why->remedy);
    } else if (answer.what == kind::compare) {
        found.note("rows_to_compare",
                   "walrelay run compares the rows that the slot still sends with stream " +
                       asked.stream + " one by one, because " + answer.remark,
                   "nothing to do: what the stream has is skipped, the rest is published");
    }
    return found.take();
}

error explain_not_met(error failure, const std::string& slot) {
    failure.what += ": slot " + slot +
                    " has gone past that place. The server was restored from a copy, another "
                    "standby was promoted, or somebody else wrote the message; nothing was "
                    "confirmed since";
    failure.remedy = how_to_accept_history;
    return failure;
}

}  // namespace walrelay::relay
