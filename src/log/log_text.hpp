// A line of the log as text and as JSON. Whatever a row, a role or a server says in it, it stays
// one line, and adds no field.
#pragma once

#include "core/instant.hpp"
#include "core/log_entry.hpp"

#include <string>

namespace walrelay {

/// With its line feed:
/// `2026-03-01T09:12:44.102Z info    slot a is free: this relay takes over [slot_taken slot=a]`.
/// A value that is not made of plain characters alone is written as a JSON string, and holds no
/// bracket.
[[nodiscard]] std::string text_line(const log_entry& line, wall_time at);

/// One object, with its line feed: `time`, `level`, `event`, `message`, and each field.
[[nodiscard]] std::string json_line(const log_entry& line, wall_time at);

/// `<4>` for a warning: how systemd's journal is told of the priority of what follows. Source:
/// sd-daemon(3).
[[nodiscard]] std::string priority_prefix(log_severity severity);

}  // namespace walrelay
