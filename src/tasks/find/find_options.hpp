// What the command line asks of walrelay find.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace walrelay::tasks {

struct find_options {
    /// A Nats-Msg-Id, or the id of a row. One of these three is set.
    std::string id = {};
    /// TYPE/ID: its rows.
    std::string aggregate = {};
    /// Of a message.
    std::optional<std::uint64_t> sequence = {};
    /// A time as people write it: messages before it are not looked at. Empty: from the row's own
    /// time on, or all.
    std::string since = {};
    /// Whose place is told.
    std::string consumer = {};
    /// How many rows of an aggregate, the newest.
    std::size_t limit = 20;
    bool json = false;
};

}  // namespace walrelay::tasks
