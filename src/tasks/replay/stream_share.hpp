// What the stream still has of a range that is to be replayed: a consumer that begins there may be
// all that is needed.
#pragma once

#include "config/settings.hpp"
#include "core/position.hpp"
#include "servers/run_to_end.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <optional>

namespace walrelay::tasks {

struct stream_share {
    /// The first message of the range that the stream has.
    std::uint64_t sequence = 0;
    /// It is that of the range's first row; else the stream has dropped what was before it.
    bool is_whole = false;
};

/// Nothing where the broker cannot be asked, and where the stream has no message of the range. A
/// few messages are read, each over a connection of its own.
[[nodiscard]] boost::asio::awaitable<std::optional<stream_share>> find_in_stream(
    servers::executors on, const config::settings& settings, position first, position last);

}  // namespace walrelay::tasks
