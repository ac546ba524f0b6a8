// The lane's part of the checkpoint: what the stream's tail is taken for, and what follows from it
// for the window.

#include "core/assert.hpp"
#include "relay/lane/lane.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace walrelay::relay {
namespace {

/// The id of the first message of this position; empty where there is none.
std::string id_at(const position& where, const std::vector<placed_message>& placed) {
    const auto found = std::ranges::find(placed, where, &placed_message::where);
    return found == placed.end() ? std::string() : found->id;
}

}  // namespace

stream_tail tail_of(const stream_facts& facts) {
    stream_tail tail{facts.last_sequence,  facts.last_position, facts.shared,  facts.safe_position,
                     facts.final_position, facts.final_id,      facts.safe_id, facts.safe_sequence};
    tail.placed = facts.placed;
    tail.placed_is_whole = facts.placed_is_whole;
    return tail;
}

void lane::set_history(const lineage& line) {
    if (line == line_) {
        return;
    }
    const auto branch = line.end_of(line_.origin.timeline);
    const bool descends = branch && line.origin.system_identifier == line_.origin.system_identifier;
    // Where no tail is read, only the row that was proved last can be met again (claim_again).
    // Before a branch that leaves it out, another database can have used the same LSNs.
    const bool can_be_met = options_.sole_writer || (proved_.where && line.shares(*proved_.where));
    if (descends && can_be_met) {
        branch_off(*branch);
    } else {
        if (line_.origin != history{}) {
            empty_window();
        }
        admitted_.reset();
        stored_.reset();
        proved_.where.reset();
        claimed_.drop();
    }
    acks_.clear();
    line_ = line;
    believe(belief_);
}

/// What was stored before the branch stays so; the slot sends what was not.
void lane::branch_off(lsn branch) {
    constexpr auto greatest = std::numeric_limits<std::uint64_t>::max();
    const commit_position last{lsn{branch.value - 1}, lsn{greatest}, greatest};
    empty_window();
    for (auto* known : {&admitted_, &stored_}) {
        if (*known) {
            *known = std::min(**known, last);
        }
    }
    claimed_.drop();
}

bool lane::is_mixed(const stream_facts& seen, std::uint64_t ordered_after) const {
    if (!options_.sole_writer) {
        return false;
    }
    const auto known = std::max(known_sequence(), ordered_after);
    const placed_message* before = nullptr;
    for (const auto& each : seen.placed) {
        if (before != nullptr && each.sequence > known &&
            before->where.origin == each.where.origin && before->where.at >= each.where.at) {
            return true;
        }
        before = &each;
    }
    const auto& last = known_tail();
    const bool may_tell =
        !is_disordered_ && last && !end_of_stream_.stands_back() && before != nullptr;
    if (may_tell && before->sequence > known && before->where.origin == last->origin &&
        before->where.at < last->at) {
        return true;
    }
    return !empty() && seen.last_position && passes_over_unacked(*seen.last_position, seen.placed);
}

bool lane::passes_over_unacked(const position& furthest,
                               const std::vector<placed_message>& placed) const {
    std::multimap<commit_position, const placed_message*> there;
    for (const auto& each : placed) {
        there.emplace(each.where.at, &each);
    }
    const auto is_there = [&](const message& mine) {
        const auto [begin, end] = there.equal_range(mine.where.at);
        return std::any_of(begin, end, [&](const auto& found) {
            const auto& each = *found.second;
            return each.where == mine.where && each.id == mine.id;
        });
    };
    bool is_missed = false;
    for (auto index = first(); index != end(); ++index) {
        const auto& mine = at(index).content;
        if (mine.where.origin != furthest.origin || at(index).settled || at(index).waiting) {
            continue;
        }
        if (mine.where.at > furthest.at) {
            return false;
        }
        if (!is_there(mine)) {
            is_missed = is_missed || !at(index).stored;
        } else if (is_missed) {
            return true;
        }
    }
    return false;
}

void lane::claim_is_met() {
    WALRELAY_ASSERT(claim().has_value());
    const auto met = claim()->where;
    claimed_.drop();
    if (belief_ == tail_belief::claim) {
        believe(tail_belief::exact);
    }
    // Where it was made of what this lane had proved, the stream's last message can be another one.
    skip_up_to(met.at);
}

void lane::distrust_tail() {
    distrusted_ = true;
    opened_with_.mixed = true;
    believe(tail_belief::undecided);
}

bool lane::claim_again(lsn slot_confirmed) {
    if (belief_ == tail_belief::undecided) {
        // What this lane has sent itself need not be of this server, which can have been restored
        // since; and there is no tail yet that could be judged.
        proved_.where.reset();
        proved_.id.clear();
    }
    const bool is_decided = belief_ == tail_belief::exact || belief_ == tail_belief::nothing;
    const auto& last = proved_.where;
    if (!claim() && is_decided && !is_disordered_ && last && line_.shares(*last) &&
        last->at.commit >= slot_confirmed && !is_of_a_snapshot(last->at) &&
        !counts_events(last->at)) {
        claimed_.make({known_sequence(), *last, proved_.id});
    }
    return claim().has_value();
}

void lane::resume(std::shared_ptr<const stored_rows> rows) {
    WALRELAY_ASSERT(empty());
    distrusted_ = false;
    believe(tail_belief::nothing);
    admitted_.reset();
    stored_.reset();
    resuming_ = std::move(rows);
    is_disordered_ = true;
    outlast_stragglers();
}

bool lane::has_stored(const message& content) const {
    return resuming_->has(content.where.at, content.id);
}

bool lane::may_have_stored(const commit_position& where) const {
    return resuming_->may_have(where);
}

bool lane::has_resumed() const {
    const auto& newest = resuming_->newest();
    return !newest || (stored_ && *stored_ >= *newest && known_tail() &&
                       known_tail()->at >= *newest && line_.shares(*known_tail()));
}

void lane::end_resuming(tail_belief how) {
    resuming_.reset();
    is_disordered_ = how == tail_belief::undecided;
    // Up to the row that was met last. The stream's last message need not be of the greatest
    // position, nor of a row at all.
    belief_ = how;
    on_belief();
}

std::string stream_tail::checkpoint_id() const {
    if (shared) {
        return safe_id;
    }
    if (final_position == last_position) {
        return final_id;
    }
    // It stands further back: somebody else can have given a message the position of a row to come.
    return last_position ? id_at(*last_position, placed) : std::string();
}

bool lane::sent_itself(const position& where, std::string_view id) const {
    const auto same = [&](std::string_view other) {
        return id.empty() || other.empty() || id == other;
    };
    if (proved_.where && *proved_.where == where) {
        return same(proved_.id);
    }
    for (auto index = first(); index != end(); ++index) {
        if (at(index).content.where == where && at(index).offered && !at(index).settled) {
            return same(at(index).content.id);
        }
    }
    return false;
}

void lane::believe(tail_belief how) {
    belief_ = how;
    if (how == tail_belief::exact || how == tail_belief::claim) {
        // Judged by the stream as it is now: a comparison that was broken off is over.
        is_disordered_ = false;
    }
    claimed_.drop();
    claimed_.show_nothing();
    take_checkpoint();
    if (how != tail_belief::undecided) {
        // They were for the judgement, and can be a megabyte.
        opened_with_.placed = {};
    }
    on_belief();
}

void lane::take_checkpoint() {
    const auto& checkpoint = opened_with_.checkpoint();
    if (!options_.sole_writer || !checkpoint || !line_.shares(*checkpoint)) {
        return;
    }
    if (belief_ == tail_belief::exact) {
        if (!proved_.where || proved_.where->at < checkpoint->at) {
            proved_ = {*checkpoint, opened_with_.checkpoint_id()};
        }
        skip_up_to(checkpoint->at);
    } else if (belief_ == tail_belief::claim && (!stored_ || checkpoint->at > *stored_)) {
        claimed_.make({opened_with_.last_sequence, *checkpoint, opened_with_.checkpoint_id()});
        const bool is_whole = opened_with_.placed_is_whole;
        claimed_.show(
            is_whole ? std::exchange(opened_with_.placed, {}) : std::vector<placed_message>{},
            is_whole, line_);
        while (!empty() && at(first()).content.where.at <= checkpoint->at) {
            forget_first();
        }
    }
}

}  // namespace walrelay::relay
