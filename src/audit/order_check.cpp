#include "audit/order_check.hpp"

namespace walrelay::audit {

bool order_check::find(const history& origin) {
    if (last_ < known_.size() && known_[last_].origin == origin) {
        return true;
    }
    for (last_ = 0; last_ < known_.size(); ++last_) {
        if (known_[last_].origin == origin) {
            return true;
        }
    }
    return false;
}

std::optional<order_check::message_before> order_check::add(std::uint64_t sequence,
                                                            const position& where) {
    if (!find(where.origin)) {
        known_.push_back({where.origin, {sequence, where.at}});
        return std::nullopt;
    }
    auto& last = known_[last_].last;
    const auto before = last;
    last = {sequence, where.at};
    return where.at > before.at ? std::nullopt : std::optional(before);
}

}  // namespace walrelay::audit
