// What becomes of a row that cannot be delivered. Pure.
#pragma once

#include "core/change.hpp"
#include "core/dead_letter.hpp"
#include "core/error.hpp"
#include "core/message.hpp"

#include <cstdint>

namespace walrelay::relay {

/// What the broker said of a message that it will never take.
struct condemnation {
    error why;
    std::int32_t error_code = 0;  // JetStream's err_code; 0 if there is none
    std::uint32_t attempts = 0;
};

/// `content` is as far filled as the row could be mapped; `content.where` and
/// `content.committed_at` are set.
[[nodiscard]] dead_letter make_dead_letter(const table_name& source, const row_insert& row,
                                           const message& content, const condemnation& reason);

/// One line for the log: which row was set aside, why, and how to see and retry it.
[[nodiscard]] std::string describe(const dead_letter& letter);

}  // namespace walrelay::relay
