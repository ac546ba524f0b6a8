// Replication frames of an outbox table in full flow, as a server sends them with either plugin.
// Made before anything is measured; knows the wire formats and nothing of the relay.
#pragma once

#include "core/facts.hpp"
#include "core/lsn.hpp"
#include "core/outbox_table.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace walrelay::test {

struct event_shape {
    output_plugin plugin = output_plugin::pgoutput;
    /// The texts of all columns together; at least 100.
    std::size_t row_bytes = 300;
    std::size_t rows_per_transaction = 1000;
};

/// The table that the rows are of: ids, types, a payload in jsonb, a time.
[[nodiscard]] const table_name& event_table();

/// Goes on from where it was: every call gives later positions and other ids.
class event_frames {
public:
    explicit event_frames(event_shape shape);

    /// The transactions of that many rows, each frame the whole of one CopyData message. The last
    /// transaction may be a shorter one. pgoutput describes the table in the first of all.
    [[nodiscard]] std::vector<std::string> next(std::size_t rows);

    /// The frames alone.
    [[nodiscard]] std::string begin() const;
    [[nodiscard]] std::string description() const;
    [[nodiscard]] std::string row();
    [[nodiscard]] std::string commit() const;

private:
    [[nodiscard]] bool is_pgoutput() const { return shape_.plugin == output_plugin::pgoutput; }

    /// In the WAL, from one commit to the next.
    static constexpr std::uint64_t transaction_bytes = 1024;

    event_shape shape_;
    std::string payload_;
    bool described_ = false;
    std::uint64_t lsn_ = 0x1'0000'0000;
    std::uint64_t next_id_ = 1'000'000;
};

/// Of an XLogData frame.
[[nodiscard]] std::string_view payload_of(const std::string& frame);

}  // namespace walrelay::test
