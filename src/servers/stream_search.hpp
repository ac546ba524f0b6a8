// Looks in the stream for what was asked of the relay through the WAL: it is done when its message
// is stored, not when its control row is written.
#pragma once

#include "config/settings.hpp"
#include "core/change.hpp"
#include "core/error.hpp"
#include "nats/requests/stream_scan.hpp"
#include "postgres/session/connection.hpp"
#include "servers/run_to_end.hpp"

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace walrelay::servers {

/// Whether all that is committed now was read by whoever has the slot. False where that is not
/// known: also without the slot, which a copy can still take the place of (a rewind, or a change of
/// the plugin, that broke off), and send all of it. Waits no longer than `patience`, and not at all
/// where no relay streams.
[[nodiscard]] boost::asio::awaitable<result<bool>> slot_has_read_all(
    executors on, postgres::connection& sql, std::string slot, std::chrono::milliseconds patience);

struct searched_part {
    std::uint64_t messages = 0;
    /// So many are not there any more; what they were is not known.
    std::uint64_t removed = 0;
    /// When the stream was made.
    std::optional<wall_time> created = {};
    /// It ended with this sequence when it was opened.
    std::uint64_t last_sequence = 0;
};

struct search_from {
    std::uint64_t after = 0;
    /// When the stream was seen to end there; nothing where that is not known. One that was made
    /// since has that sequence for another message.
    std::optional<wall_time> seen = {};
};

/// Shows every message after this one to `visit`, on the thread for blocking calls. All of them
/// where the stream is not the one that had the sequence. Errors: those of stream_scan.
[[nodiscard]] boost::asio::awaitable<result<searched_part>> search_stream(
    executors on, const config::settings& settings, search_from from,
    std::function<void(const nats::scanned_message&)> visit);

}  // namespace walrelay::servers
