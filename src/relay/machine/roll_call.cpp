#include "relay/machine/roll_call.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace walrelay::relay {

void roll_call::stream_has(const std::vector<recent_message>& recent,
                           const std::vector<std::uint64_t>& other_rules, const lineage& line) {
    // What an earlier look has shown need not be there any more.
    stream_.clear();
    oldest_message_.reset();
    for (const auto& each : recent) {
        stream_.insert_or_assign(each.id, shown{each.stored_at, each.where});
        if (!std::ranges::binary_search(other_rules, each.sequence)) {
            oldest_message_ =
                oldest_message_ ? std::min(*oldest_message_, each.stored_at) : each.stored_at;
        }
    }
    begin_history(line);
    for (const auto& [id, message] : stream_) {
        answer_for(id);
    }
}

void roll_call::begin_history(const lineage& line) {
    std::erase_if(stream_, [&](const auto& each) {
        return each.second.where && line.has_left(*each.second.where);
    });
}

roll_call::what_is_known roll_call::compare(const roll& asked) const {
    what_is_known known;
    for (const auto& row : asked.rows) {
        const auto found = stream_.find(row.id);
        if (found == stream_.end()) {
            continue;
        }
        const auto [place, is_first] = known.oldest.try_emplace(row.table, row.created_at);
        if (!is_first) {
            place->second = std::min(place->second, row.created_at);
        }
        known.ahead = std::max(known.ahead, row.created_at - found->second.stored_at);
    }
    return known;
}

/// Where the table does not say when the row was made, it is asked for.
bool roll_call::may_be_removed(const roll_row& row, std::chrono::microseconds ahead) const {
    return begins_at_ && row.created_at != wall_time{} && row.created_at <= *begins_at_ + ahead;
}

void roll_call::leave_out_removed(roll& asked) const {
    if (!asked.is_exact || !begins_at_) {
        return;
    }
    const auto ahead = compare(asked).ahead;
    const auto left_out = std::erase_if(asked.rows, [&](const roll_row& row) {
        return !stream_.contains(row.id) && may_be_removed(row, ahead);
    });
    asked.is_whole = asked.is_whole && left_out == 0;
}

bool roll_call::asks_for_removed(const std::vector<roll_row>& looked_for) const {
    if (!ahead_) {
        return false;
    }
    const auto is_removed = [&](const roll_row& row) { return may_be_removed(row, *ahead_); };
    return std::ranges::any_of(looked_for, is_removed) || std::ranges::any_of(missing_, is_removed);
}

void roll_call::start_over() {
    hear_no_more();
    ahead_.reset();
    open_ = false;
    until_ = {};
    missing_.clear();
}

void roll_call::begin(const roll& asked) {
    missing_.clear();
    const auto known = compare(asked);
    for (const auto& row : asked.rows) {
        const auto oldest = known.oldest.find(row.table);
        // A row that is made before a message is stored may be from before the slot, or have its
        // message further back than was looked; one of the future tells nothing by its time.
        const bool is_asked_for =
            asked.is_exact ||
            (oldest != known.oldest.end() && oldest_message_ && row.created_at > oldest->second &&
             row.created_at > *oldest_message_ + known.ahead &&
             row.created_at <= asked.taken_at + known.ahead);
        if (is_asked_for && !stream_.contains(row.id) && !heard_.contains(row.id)) {
            missing_.insert(row);
        }
    }
    ahead_ = asked.is_exact && !hears_ ? std::optional(known.ahead) : std::nullopt;
    hear_no_more();
    until_ = asked.committed_before;
    open_ = !missing_.empty();
}

std::optional<wall_time> roll_call::oldest_awaited() const {
    std::optional<wall_time> oldest;
    for (const auto& row : missing_) {
        // Not every table tells when a row was made.
        if (row.created_at != wall_time{}) {
            oldest = std::min(oldest.value_or(row.created_at), row.created_at);
        }
    }
    return open_ ? oldest : std::nullopt;
}

void roll_call::hear() {
    hear_no_more();
    hears_ = !open_;
}

void roll_call::hear_no_more() {
    hears_ = false;
    heard_.clear();
}

void roll_call::answer_for(std::string_view id) {
    if (const auto found = missing_.find(id); found != missing_.end()) {
        missing_.erase(found);
    }
}

void roll_call::delivered(std::string_view id) {
    constexpr std::size_t heard_max = 1000;
    if (!hears_) {
        answer_for(id);
    } else if (heard_.size() < heard_max) {
        heard_.emplace(id);
    } else {
        hear_no_more();
    }
}

std::vector<roll_row> roll_call::slot_has_come_to(lsn where) {
    if (!open_ || (where < until_ && !missing_.empty())) {
        return {};
    }
    open_ = false;
    std::vector<roll_row> left;
    left.reserve(missing_.size());
    while (!missing_.empty()) {
        left.push_back(std::move(missing_.extract(missing_.begin()).value()));
    }
    return left;
}

}  // namespace walrelay::relay
