// The frames of PostgreSQL's streaming replication protocol, bytes to values and back.
//
// Source: PostgreSQL documentation, "Streaming Replication Protocol". All integers are big-endian.
//
//   from the server, each the whole of one CopyData message
//     XLogData   'w' Int64 start, Int64 end, Int64 sent at, Byte* payload
//     keepalive  'k' Int64 end, Int64 sent at, Byte reply requested (0 or 1)
//   to the server
//     status     'r' Int64 written, Int64 flushed, Int64 applied, Int64 sent at, Byte reply
//     requested
//
// Times are microseconds since 2000-01-01 00:00 UTC.
#pragma once

#include "core/change.hpp"
#include "core/error.hpp"
#include "core/lsn.hpp"

#include <string>
#include <string_view>
#include <variant>

namespace walrelay::wal {

struct xlog_data {
    lsn start;
    lsn end;
    wall_time sent_at;
    /// What the output plugin wrote: a view into the bytes given to `parse_frame`.
    std::string_view payload;
};

struct keepalive {
    /// The end of the last WAL record that the server has processed for this connection.
    lsn end;
    wall_time sent_at;
    bool reply_requested = false;
};

using frame = std::variant<xlog_data, keepalive>;

/// Reads one CopyData message. Errors: frame_truncated, frame_malformed, both with the offset.
[[nodiscard]] result<frame> parse_frame(std::string_view bytes);

struct status_update {
    lsn written;
    /// Drives the slot's confirmed_flush_lsn (src/backend/replication/walsender.c,
    /// ProcessStandbyReplyMessage).
    lsn flushed;
    lsn applied;
    wall_time sent_at;
    /// Answered by a keepalive at once.
    bool reply_requested = false;
};

/// The bytes of one CopyData message to the server.
[[nodiscard]] std::string encode(const status_update& status);

}  // namespace walrelay::wal
