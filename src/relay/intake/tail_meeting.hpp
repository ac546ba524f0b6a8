// The row of the stream's last message, where it is still to be met: the checkpoint is a claim
// until the slot sends that very row. Pure.
#pragma once

#include "core/change.hpp"
#include "core/error.hpp"
#include "core/position.hpp"
#include "relay/lane/stream_tail.hpp"

#include <optional>
#include <string>

namespace walrelay::relay {

struct open_transaction;

/// The slot went past the tail's position without its row. Error: tail_not_met.
[[nodiscard]] error tail_not_met(const tail_claim& tail, const std::string& stream);
/// The row at the tail's position has another message id. Error: tail_not_met.
[[nodiscard]] error tail_is_another_row(const tail_claim& tail, const std::string& id,
                                        const std::string& stream);
/// Whether the slot has gone past the tail's row with this change; `in` is null where the change
/// ended its transaction, or is of none.
[[nodiscard]] bool is_past_the_tail(const change& decoded,
                                    const std::optional<open_transaction>& in,
                                    const commit_position& tail);

}  // namespace walrelay::relay
