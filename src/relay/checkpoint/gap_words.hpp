// What an operator is told to do about rows that are missing; the same wherever that is found.
#pragma once

#include "core/gap_words.hpp"

#include <string>

namespace walrelay::relay {

using walrelay::how_to_close_a_gap;

/// The same where the broker has lost what it acked.
[[nodiscard]] std::string how_to_close_loss();

}  // namespace walrelay::relay
