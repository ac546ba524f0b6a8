// Whether positions grow from message to message. Positions of two histories are not compared: each
// history has an order of its own.
#pragma once

#include "core/position.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace walrelay::audit {

class order_check {
public:
    struct message_before {
        std::uint64_t sequence = 0;
        commit_position at = {};
    };

    /// To be called in the order of the stream. Gives the message before this one in its history,
    /// if this one does not come after it.
    [[nodiscard]] std::optional<message_before> add(std::uint64_t sequence, const position& where);

    /// The number of the history that was added last, and the history of a number.
    [[nodiscard]] std::uint32_t last_history() const { return last_; }
    [[nodiscard]] const history& history_at(std::uint32_t number) const {
        return known_[number].origin;
    }

private:
    struct known_history {
        history origin = {};
        message_before last = {};
    };
    [[nodiscard]] bool find(const history& origin);

    std::vector<known_history> known_;
    std::uint32_t last_ = 0;
};

}  // namespace walrelay::audit
