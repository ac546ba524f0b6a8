// Which rows the slot sends again although the stream has them, when the relay begins: after a
// crash, or because somebody has put the slot back. Pure.
#pragma once

#include "core/lsn.hpp"
#include "core/position.hpp"

#include <cstdint>
#include <optional>

namespace walrelay::relay {

class sent_again {
public:
    struct finding {
        /// Where the slot stood.
        lsn from;
        /// The stream's last message then.
        position up_to;
        std::uint64_t rows = 0;
    };

    /// The slot is streamed from. Counts for the first time alone: later the relay itself knows
    /// what it has published.
    void begin(lsn slot_confirmed, const std::optional<position>& tail, std::uint64_t skipped) {
        if (!has_begun_ && tail) {
            open_ = finding{slot_confirmed, *tail, skipped};
        }
        has_begun_ = true;
    }
    [[nodiscard]] bool is_open() const { return open_.has_value(); }
    /// The row of that message has come. Nothing where no other was sent again.
    [[nodiscard]] std::optional<finding> met(std::uint64_t skipped) {
        auto found = *open_;
        open_.reset();
        found.rows = skipped - found.rows;
        return found.rows > 0 ? std::optional(found) : std::nullopt;
    }

private:
    bool has_begun_ = false;
    std::optional<finding> open_;
};

}  // namespace walrelay::relay
