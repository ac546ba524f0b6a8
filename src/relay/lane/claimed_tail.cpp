#include "relay/lane/claimed_tail.hpp"

#include <algorithm>
#include <utility>

namespace walrelay::relay {

void claimed_tail::show(std::vector<placed_message> placed, bool whole, const lineage& line) {
    if (whole) {
        shown_ = std::move(placed);
        shows_all_ = !shown_.empty() && shown_.front().sequence == 1;
    }
    std::erase_if(shown_, [&](const auto& each) { return !line.shares(each.where); });
    std::ranges::sort(shown_, {}, [](const auto& each) { return each.where.at; });
}

bool claimed_tail::leaves_out(const commit_position& where, std::string_view id) const {
    if (!shows_others_around(where)) {
        return false;
    }
    const auto [first, last] =
        std::ranges::equal_range(shown_, where, {}, [](const auto& each) { return each.where.at; });
    if (std::any_of(first, last, [&](const placed_message& each) {
            return each.id.empty() || id.empty() || each.id == id;
        })) {
        return false;
    }
    return std::ranges::none_of(shown_, [&](const placed_message& each) {
        return can_stand_for(each.where.at, where) && each.id == id;
    });
}

}  // namespace walrelay::relay
