// The lane's messages that the broker refuses.

#include "relay/lane/lane.hpp"

#include <utility>

namespace walrelay::relay {

lane_verdict lane::refuse(std::uint64_t index, publish_outcome said) {
    refused_ = {index, std::move(said)};
    const bool is_taken = refused_.said.kind == outcome_class::duplicate;
    return trouble(is_taken ? lane_verdict::id_is_taken : lane_verdict::message_refused,
                   refused_.said.server_said);
}

void lane::offer_again() {
    on_offered_again(refused_.index);
}

void lane::set_refused_aside() {
    at(refused_.index).waiting = true;
    on_set_aside(refused_.index);
}

std::optional<commit_position> lane::published_before_refused() const {
    for (auto index = refused_.index; index != first(); --index) {
        const entry& before = at(index - 1);
        if (!before.waiting && (!before.settled || before.in_stream)) {
            return before.content.where.at;
        }
    }
    return proved_.where ? std::optional(proved_.where->at) : std::nullopt;
}

}  // namespace walrelay::relay
