// The lane's part of the checkpoint: what the stream's tail is taken for, and what follows from it
// for the window.

#include "core/assert.hpp"
#include "relay/lane.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace walrelay::relay {

stream_tail tail_of(const stream_facts& facts) {
    return {facts.last_sequence, facts.last_position,  facts.shared,
            facts.safe_position, facts.final_position, facts.final_id};
}

void lane::set_history(const lineage& line) {
    if (line == line_) {
        return;
    }
    const auto branch = line.end_of(line_.origin.timeline);
    const bool descends = branch && line.origin.system_identifier == line_.origin.system_identifier;
    if (descends) {
        branch_off(line, *branch);
    } else {
        if (line_.origin != history{}) {
            empty_window();
        }
        admitted_.reset();
        stored_.reset();
        claim_.reset();
    }
    line_ = line;
    believe(belief_);
}

/// What was stored before the branch stays so; what came after it is of no history any more.
void lane::branch_off(const lineage& to, lsn branch) {
    constexpr auto greatest = std::numeric_limits<std::uint64_t>::max();
    const commit_position last{lsn{branch.value - 1}, lsn{greatest}, greatest};
    while (!empty() && !to.shares(at(end_ - 1).content.where)) {
        forget_last();
    }
    on_emptied();
    for (auto* known : {&admitted_, &stored_}) {
        if (*known) {
            *known = std::min(**known, last);
        }
    }
    claim_.reset();
}

bool lane::is_mixed(const stream_facts& seen, std::uint64_t ordered_after) const {
    const auto known = std::max(known_sequence_, ordered_after);
    const placed_message* before = nullptr;
    for (const auto& each : seen.placed) {
        if (before != nullptr && each.sequence > known &&
            before->where.origin == each.where.origin && before->where.at >= each.where.at) {
            return true;
        }
        before = &each;
    }
    if (is_disordered_ || before == nullptr || !sent_itself(before->where)) {
        return false;
    }
    auto next = seen.placed.begin();
    for (std::uint64_t index = first_; index != end_; ++index) {
        const auto& mine = at(index).content.where;
        if (at(index).stored || mine.origin != before->where.origin) {
            continue;
        }
        if (mine.at > before->where.at) {
            return false;
        }
        while (next != seen.placed.end() && next->where != mine) {
            ++next;
        }
        if (next == seen.placed.end()) {
            return true;
        }
    }
    return false;
}

void lane::claim_is_met() {
    WALRELAY_ASSERT(claim_.has_value());
    believe(tail_belief::exact);
}

bool lane::claim_again(lsn slot_confirmed) {
    if (!claim_ && options_.sole_writer && !is_disordered_ && belief_ == tail_belief::exact &&
        proved_ && line_.shares(*proved_) && proved_->at.commit >= slot_confirmed &&
        !is_of_a_snapshot(proved_->at) && !counts_events(proved_->at)) {
        claim_ = tail_claim{known_sequence_, *proved_, proved_id_};
    }
    return claim_.has_value();
}

void lane::resume(std::shared_ptr<const stored_rows> rows) {
    WALRELAY_ASSERT(empty());
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

bool lane::has_resumed() const {
    const auto& newest = resuming_->newest();
    return !newest || (stored_ && *stored_ >= *newest && tail_ && tail_->at >= *newest &&
                       line_.shares(*tail_));
}

void lane::end_resuming(tail_belief how) {
    resuming_.reset();
    is_disordered_ = how == tail_belief::undecided;
    believe(how);
}

bool lane::sent_itself(const position& where) const {
    if (proved_ && *proved_ == where) {
        return true;
    }
    for (std::uint64_t index = first_; index != end_; ++index) {
        if (at(index).content.where == where && !at(index).settled) {
            return true;
        }
    }
    return false;
}

void lane::believe(tail_belief how) {
    belief_ = how;
    claim_.reset();
    take_checkpoint();
    on_belief();
}

void lane::take_checkpoint() {
    const auto& checkpoint = opened_with_.checkpoint();
    if (!options_.sole_writer || !checkpoint || !line_.shares(*checkpoint)) {
        return;
    }
    if (belief_ == tail_belief::exact) {
        if (!proved_ || proved_->at < checkpoint->at) {
            proved_ = *checkpoint;
            proved_id_ = opened_with_.shared ? "" : opened_with_.final_id;
        }
        skip_up_to(checkpoint->at);
    } else if (belief_ == tail_belief::claim && (!stored_ || checkpoint->at > *stored_)) {
        // The id is that of the last message; of an earlier one it is not known.
        claim_ = tail_claim{opened_with_.last_sequence, *checkpoint,
                            opened_with_.shared ? "" : opened_with_.final_id};
        while (!empty() && at(first_).content.where.at <= checkpoint->at) {
            forget_first();
        }
    }
}

}  // namespace walrelay::relay
