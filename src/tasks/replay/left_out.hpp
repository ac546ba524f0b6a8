// Rows of a replay that another stream does not take. Pure.
#pragma once

#include "core/message.hpp"
#include "core/position.hpp"
#include "relay/intake/size_limits.hpp"
#include "relay/replay/replay_reader.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::tasks {

struct left_out_rows {
    std::uint64_t count = 0;
    /// The first few of them by name.
    std::vector<std::string> named = {};

    void add(const position& where, const std::string& why);
};

/// With the subject that it has in the other stream.
void move_subject(message& content, const std::string& to_subject);

/// Why the row cannot be a message of a stream with these limits, with its subject put into the
/// pattern `to_subject`, where that is not empty.
[[nodiscard]] std::optional<std::string> why_left_out(const relay::replayed_row& row,
                                                      const relay::size_limits& limits,
                                                      const std::string& to_subject);

}  // namespace walrelay::tasks
