// The window: messages in commit order, from when they are read until they are stored. A ring that
// allocates nothing in full flow; it knows nothing of how messages are sent. Pure.
#pragma once

#include "core/instant.hpp"
#include "core/message.hpp"
#include "core/position.hpp"
#include "relay/lane/kept_row.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::relay {

/// A message of the window.
struct window_entry {
    message content;
    kept_row row;
    bool touched = false;  // since the place was emptied
    monotonic_time sent_at;
    monotonic_time offered_at;  // for the first time
    /// As it was sent: what the stream must end with (fenced_lane), or had at least.
    std::uint64_t behind_sequence = 0;
    bool sent = false;       // on this connection
    bool offered = false;    // on this or an earlier one
    bool stored = false;     // acked, or settled
    bool settled = false;    // without a publish
    bool in_stream = false;  // although it is settled
    bool waiting = false;    // to be settled without a publish
    /// parallel_lane: the next message of the same aggregate; 0 if there is none.
    std::uint64_t next_of_aggregate = 0;
};

class message_window {
public:
    message_window(std::size_t most_messages, std::size_t most_bytes);

    // Absolute counts, from 1: [first, end) is what it holds.
    [[nodiscard]] std::uint64_t first() const { return first_; }
    [[nodiscard]] std::uint64_t end() const { return end_; }
    [[nodiscard]] window_entry& at(std::uint64_t index) { return ring_[index % ring_.size()]; }
    [[nodiscard]] const window_entry& at(std::uint64_t index) const {
        return ring_[index % ring_.size()];
    }
    [[nodiscard]] bool empty() const { return first_ == end_; }
    [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(end_ - first_); }
    [[nodiscard]] std::size_t capacity() const { return ring_.size(); }
    [[nodiscard]] std::size_t bytes() const { return bytes_; }
    /// A message larger than the window goes alone.
    [[nodiscard]] bool has_room() const {
        return empty() || (size() < ring_.size() && bytes_ < most_bytes_);
    }
    /// Of the first message of this position; nothing where it holds none.
    [[nodiscard]] std::optional<std::uint64_t> find(const position& where) const;

    /// The free place behind the last message, emptied.
    [[nodiscard]] message& vacancy();
    /// What was filled into it is the last message now, and nothing has happened to it yet.
    window_entry& take_in();
    /// The first one leaves; its place keeps a little memory.
    void drop_first();
    /// Exchanges the id of the first one, which is to leave.
    void exchange_first_id(std::string& other);

private:
    std::vector<window_entry> ring_;
    std::size_t most_bytes_;
    std::uint64_t first_ = 1;
    std::uint64_t end_ = 1;
    std::size_t bytes_ = 0;
};

}  // namespace walrelay::relay
