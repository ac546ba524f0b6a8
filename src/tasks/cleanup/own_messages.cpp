#include "tasks/cleanup/own_messages.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <utility>

namespace walrelay::tasks {
namespace {

using audit::claim;
using audit::claimed_position;

bool counts(const claimed_position& one) {
    return one.what == claim::fits || one.what == claim::ahead;
}

class jury {
public:
    jury(nats::cleanup_cursor& cursor, const std::vector<nats::passed_message>& messages,
         const audit::known_history& known, const row_rules& rules)
        : cursor_(cursor),
          messages_(messages),
          known_(known),
          rules_(rules),
          order_(messages.size()) {
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        std::ranges::sort(order_, {}, [&](std::size_t at) { return messages_[at].sequence; });
        for (const auto at : order_) {
            claims_.push_back(audit::claim_of(messages_[at].position, known_));
        }
    }

    result<std::vector<judged_message>> judge_all() {
        std::vector<judged_message> judged(messages_.size());
        for (std::size_t place = 0; place < order_.size(); ++place) {
            if (known_.in_order) {
                if (auto stepped = step_to(place); !stepped) {
                    return stepped.error();
                }
            }
            auto one = judge(place);
            if (!one) {
                return one.error();
            }
            judged[order_[place]] = std::move(*one);
        }
        return judged;
    }

private:
    [[nodiscard]] const nats::passed_message& message(std::size_t place) const {
        return messages_[order_[place]];
    }
    /// Whether the stream has nothing between the message of this place and the one before it: one
    /// that is handed out for the first time follows all that were handed out before.
    [[nodiscard]] bool follows_directly(std::size_t place) const {
        const auto& one = message(place - 1);
        const auto& other = message(place);
        return other.sequence == one.sequence + 1 || (one.deliveries == 1 && other.deliveries == 1);
    }

    /// Makes before_that_ and before_ those of this place.
    result<void> step_to(std::size_t place) {
        if (place > 0 && follows_directly(place)) {
            if (claims_[place - 1].what == claim::fits) {
                before_that_ = std::exchange(before_, claims_[place - 1].where);
            }
            return {};
        }
        before_that_.reset();
        before_.reset();
        const auto found = cursor_.positions_before(message(place).sequence, positions_looked_for);
        if (!found) {
            return found.error();
        }
        for (const auto& text : found->positions) {
            if (const auto one = audit::claim_of(text, known_); one.what == claim::fits) {
                (before_ ? before_that_ : before_) = one.where;
            }
            if (before_that_) {
                break;
            }
        }
        const bool that_is_all =
            !found->cut_short && found->positions.size() < positions_looked_for;
        before_is_known_ = before_.has_value() || that_is_all;
        return {};
    }

    result<std::optional<position>> next_of(std::size_t place) {
        if (place + 1 < order_.size() && follows_directly(place + 1)) {
            return counts(claims_[place + 1]) ? claims_[place + 1].where : std::nullopt;
        }
        const auto text = cursor_.position_at(message(place).sequence + 1);
        if (!text) {
            return text.error();
        }
        const auto one = audit::claim_of(*text, known_);
        return counts(one) ? one.where : std::nullopt;
    }

    result<judged_message> judge(std::size_t place) {
        const auto& claimed = claims_[place];
        switch (claimed.what) {
            case claim::none:
                return judged_message{provenance::stranger, "it has no Walrelay-Position"};
            case claim::foreign:
                return judged_message{
                    provenance::stranger,
                    "its Walrelay-Position is that of another database, or of a branch "
                    "of its history that was left"};
            case claim::ahead:
                return judged_message{provenance::not_yet, {}};
            case claim::fits:
                break;
        }
        if (came_before(rules_, claimed.where->at)) {
            return judged_message{provenance::of_other_rules, {}};
        }
        if (!known_.in_order) {
            return judged_message{};
        }
        const auto next = next_of(place);
        if (!next) {
            return next.error();
        }
        const bool stands_well =
            before_is_known_ && audit::is_in_order(*claimed.where, {before_that_, before_, *next});
        return stands_well ? judged_message{}
                           : judged_message{provenance::stranger,
                                            "its Walrelay-Position is not in the order of the "
                                            "messages around it"};
    }

    /// Some of them may be no claims that count.
    static constexpr std::size_t positions_looked_for = 8;

    nats::cleanup_cursor& cursor_;
    const std::vector<nats::passed_message>& messages_;
    const audit::known_history& known_;
    const row_rules& rules_;
    /// Of the messages, by sequence number; below, a place is one in this order.
    std::vector<std::size_t> order_;
    std::vector<claimed_position> claims_;
    std::optional<position> before_that_;
    std::optional<position> before_;
    bool before_is_known_ = true;
};

}  // namespace

result<std::vector<judged_message>> judge(nats::cleanup_cursor& cursor,
                                          const std::vector<nats::passed_message>& messages,
                                          const audit::known_history& known,
                                          const row_rules& rules) {
    return jury(cursor, messages, known, rules).judge_all();
}

}  // namespace walrelay::tasks
