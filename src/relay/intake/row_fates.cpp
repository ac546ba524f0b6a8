#include "relay/intake/row_fates.hpp"

#include <algorithm>
#include <utility>

namespace walrelay::relay {

void row_fates::condemn(commit_position where, condemnation reason) {
    condemned_.insert_or_assign(where, std::move(reason));
}

void row_fates::condemn_row(const std::string& message_id, condemnation reason) {
    condemned_rows_.insert_or_assign(message_id, std::move(reason));
}

void row_fates::keep_dead(std::vector<commit_position> letters) {
    dead_ = std::move(letters);
    std::sort(dead_.begin(), dead_.end());
}

void row_fates::stay_dead(const dead_letters& asked) {
    for (const auto& each : asked) {
        const condemnation reason{
            {errc::message_refused, each.reason, ""}, each.error_code, each.attempts};
        condemn(each.where.at, reason);
        if (!each.message_id.empty()) {
            condemn_row(each.message_id, reason);
        }
    }
}

void row_fates::begin_history() {
    condemned_.clear();
    stored_.clear();
}

bool row_fates::is_dead(commit_position where) const {
    return std::binary_search(dead_.begin(), dead_.end(), where);
}

const condemnation* row_fates::reason_for(const message& content, bool of_a_snapshot) const {
    if (of_a_snapshot) {
        const auto found = condemned_rows_.find(content.id);
        return found == condemned_rows_.end() ? nullptr : &found->second;
    }
    const auto found = condemned_.find(content.where.at);
    return found == condemned_.end() ? nullptr : &found->second;
}

}  // namespace walrelay::relay
