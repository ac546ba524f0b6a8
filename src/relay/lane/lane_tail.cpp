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
    const bool can_be_met = options_.sole_writer || (proved_ && line.shares(*proved_));
    if (descends && can_be_met) {
        branch_off(*branch);
    } else {
        if (line_.origin != history{}) {
            empty_window();
        }
        admitted_.reset();
        stored_.reset();
        proved_.reset();
        claim_.reset();
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
    claim_.reset();
}

bool lane::is_mixed(const stream_facts& seen, std::uint64_t ordered_after) const {
    if (!options_.sole_writer) {
        return false;
    }
    const auto known = std::max(known_sequence_, ordered_after);
    const placed_message* before = nullptr;
    for (const auto& each : seen.placed) {
        if (before != nullptr && each.sequence > known &&
            before->where.origin == each.where.origin && before->where.at >= each.where.at) {
            return true;
        }
        before = &each;
    }
    const bool may_tell = !is_disordered_ && tail_ && !tail_stands_back_ && before != nullptr;
    if (may_tell && before->sequence > known && before->where.origin == tail_->origin &&
        before->where.at < tail_->at) {
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
    for (std::uint64_t index = first_; index != end_; ++index) {
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
    WALRELAY_ASSERT(claim_.has_value());
    const auto met = std::exchange(claim_, std::nullopt)->where;
    if (belief_ == tail_belief::claim) {
        believe(tail_belief::exact);
    }
    // Where it was made of what this lane had proved, the stream's last message can be another one.
    skip_up_to(met.at);
}

bool lane::shows_others_around(const commit_position& where) const {
    return !shown_.empty() && (shows_all_ || shown_.front().where.at <= where);
}

bool lane::leaves_out(const commit_position& where, std::string_view id) const {
    if (!shows_others_around(where)) {
        return false;
    }
    const auto [first, last] =
        std::ranges::equal_range(shown_, where, {}, [](const auto& each) { return each.where.at; });
    return std::none_of(first, last, [&](const placed_message& each) {
        return each.id.empty() || id.empty() || each.id == id;
    });
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
        proved_.reset();
        proved_id_.clear();
    }
    const bool is_decided = belief_ == tail_belief::exact || belief_ == tail_belief::nothing;
    if (!claim_ && is_decided && !is_disordered_ && proved_ && line_.shares(*proved_) &&
        proved_->at.commit >= slot_confirmed && !is_of_a_snapshot(proved_->at) &&
        !counts_events(proved_->at)) {
        claim_ = tail_claim{known_sequence_, *proved_, proved_id_};
    }
    return claim_.has_value();
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

bool lane::has_resumed() const {
    const auto& newest = resuming_->newest();
    return !newest || (stored_ && *stored_ >= *newest && tail_ && tail_->at >= *newest &&
                       line_.shares(*tail_));
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
    if (proved_ && *proved_ == where) {
        return same(proved_id_);
    }
    for (std::uint64_t index = first_; index != end_; ++index) {
        if (at(index).content.where == where && at(index).offered && !at(index).settled) {
            return same(at(index).content.id);
        }
    }
    return false;
}

void lane::note_newest(const stream_tail& tail) {
    if (newest_stored_ && (newest_stored_->sequence > tail.last_sequence || tail.made_again)) {
        newest_stored_.reset();
    }
    if (tail.final_position) {
        newest_stored_ = {tail.last_sequence, *tail.final_position};
    } else if (const auto at = tail.checkpoint_sequence(); at > 0 && tail.checkpoint()) {
        newest_stored_ = {at, *tail.checkpoint()};
    }
}

void lane::believe(tail_belief how) {
    belief_ = how;
    if (how == tail_belief::exact || how == tail_belief::claim) {
        // Judged by the stream as it is now: a comparison that was broken off is over.
        is_disordered_ = false;
    }
    claim_.reset();
    shown_.clear();
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
        if (!proved_ || proved_->at < checkpoint->at) {
            proved_ = *checkpoint;
            proved_id_ = opened_with_.checkpoint_id();
        }
        skip_up_to(checkpoint->at);
    } else if (belief_ == tail_belief::claim && (!stored_ || checkpoint->at > *stored_)) {
        claim_ = tail_claim{opened_with_.last_sequence, *checkpoint, opened_with_.checkpoint_id()};
        if (opened_with_.placed_is_whole) {
            shown_ = std::exchange(opened_with_.placed, {});
            shows_all_ = !shown_.empty() && shown_.front().sequence == 1;
        }
        std::erase_if(shown_, [&](const auto& each) { return !line_.shares(each.where); });
        std::ranges::sort(shown_, {}, [](const auto& each) { return each.where.at; });
        while (!empty() && at(first_).content.where.at <= checkpoint->at) {
            forget_first();
        }
    }
}

}  // namespace walrelay::relay
