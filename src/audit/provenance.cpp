#include "audit/provenance.hpp"

#include <utility>

namespace walrelay::audit {

claimed_position claim_of(std::string_view text, const known_history& known) {
    const auto where = parse_position(text);
    if (!where) {
        return {};
    }
    const auto& server = known.line.origin;
    if (where->origin.system_identifier != server.system_identifier ||
        where->origin.timeline > server.timeline || known.line.has_left(*where)) {
        return {claim::foreign, where};
    }
    return {where->at.commit < known.confirmed ? claim::fits : claim::ahead, where};
}

bool precedes(const position& one, const position& other) {
    if (one.origin.timeline != other.origin.timeline) {
        return one.origin.timeline < other.origin.timeline;
    }
    return one.at < other.at;
}

bool is_in_order(const position& here, const neighbours& around) {
    if (around.before && !precedes(*around.before, here)) {
        return false;
    }
    if (!around.next || !precedes(*around.next, here)) {
        return true;
    }
    // The next one is the wrong one for sure if it does not even follow the one before this. That
    // one counts only if it stands well itself.
    const bool before_stands_well =
        around.before && (!around.before_that || precedes(*around.before_that, *around.before));
    return before_stands_well && !precedes(*around.before, *around.next);
}

std::optional<own_message> own_messages::judge(const std::optional<position>& next) {
    if (!waiting_) {
        return std::nullopt;
    }
    auto one = std::move(*waiting_);
    waiting_.reset();
    const bool own = !known_.in_order || is_in_order(one.where, {before_that_, before_, next});
    before_that_ = std::exchange(before_, one.where);
    return own ? std::optional(std::move(one)) : std::nullopt;
}

std::optional<own_message> own_messages::add(std::string_view id, std::string_view position) {
    const auto claimed = claim_of(position, known_);
    if (claimed.what != claim::fits && claimed.what != claim::ahead) {
        return std::nullopt;
    }
    auto own = judge(claimed.where);
    if (claimed.what == claim::fits) {
        waiting_.emplace(std::string(id), *claimed.where);
    }
    return own;
}

std::optional<own_message> own_messages::end() {
    return judge(std::nullopt);
}

}  // namespace walrelay::audit
