// What reading one frame, or one row of a snapshot, did.
#pragma once

#include "core/dead_letter.hpp"
#include "core/position.hpp"
#include "relay/confirm/write_backs.hpp"
#include "wal/replication_frame.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

namespace walrelay::relay {

/// From here on memory counts more than the time that it takes to give it back.
inline constexpr std::size_t large_frame_bytes = std::size_t{1} << 20U;

/// Who holds the memory of a frame.
class frame_owner {
public:
    virtual ~frame_owner() = default;
    /// It is not needed any more: a large one need not be held while its row becomes a message.
    virtual void let_go() {}

protected:
    frame_owner() = default;
    frame_owner(const frame_owner&) = default;
    frame_owner& operator=(const frame_owner&) = default;
};

struct frame_read {
    /// Set where the frame ended a transaction.
    struct transaction_end {
        std::optional<commit_position> last_event;
        /// No dead letter.
        std::optional<commit_position> last_published;
        lsn end;
    };
    std::optional<transaction_end> ended = {};
    std::optional<wal::keepalive> alive = {};
    /// The row cannot be delivered. Nothing behind it may reach the stream until this is stored.
    std::optional<dead_letter> dead = {};
    /// The event is in the lane, or the stream has it, and its row is to be written back.
    std::optional<awaited_row> awaited = {};
    /// The WAL does not hold the row whole. Nothing more is to be read until what is missing is
    /// fetched by the row's id.
    struct fetch_request {
        std::size_t table = 0;
        std::string key;
        std::optional<transaction_id> xid = {};
    };
    std::optional<fetch_request> incomplete = {};
    /// The stream's last messages leave out this row, which lies before the last of them.
    std::optional<std::string> left_out = {};
    /// The row is of a table (intake::unknown_table) that the catalog does not know and that cannot
    /// be an outbox's by its columns. Nothing more is to be read until PostgreSQL has said what it
    /// is (settle_unknown).
    bool is_of_unknown_table = false;
    /// For the log: what was left alone, and why.
    std::optional<std::string> remark = {};
    lsn received;
    /// Set within a transaction: how long after its commit the server sent this.
    std::optional<std::chrono::microseconds> age = {};
};

}  // namespace walrelay::relay
