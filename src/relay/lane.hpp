// The lane to one stream: ordered, pipelined, fenced. Pure.
//
// Messages enter in commit order and leave when the stream has them. Every publish expects the
// sequence that the one before it will have made (Nats-Expected-Last-Sequence), so that a message
// which is dropped on the way makes its successors fail instead of being overtaken, and a second
// writer is noticed at once. The stream is the checkpoint: `open` is told what the stream's last
// message is, takes what is stored out of the window and sends the rest again.
//
//     admitted -> sent -> stored (contiguous prefix) -> forgotten
//        ^---------- open (new epoch) ----------'
//
// Messages stay in memory until they are stored; the window bounds them in number and in bytes.
#pragma once

#include "core/instant.hpp"
#include "core/message.hpp"
#include "core/position.hpp"
#include "relay/publish_outcome.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::relay {

struct lane_options {
    std::size_t window_messages = 4096;
    std::size_t window_bytes = std::size_t{32} << 20U;
    std::chrono::milliseconds ack_timeout{5000};
};

/// Identifies one publish: replies of an earlier connection carry an earlier epoch.
struct publish_token {
    std::uint64_t epoch = 0;
    std::uint64_t index = 0;
};

/// A message that is to be handed to the broker now. The view lives until the message is stored.
struct outgoing {
    publish_token token;
    std::uint64_t expected_last_sequence = 0;
    const message* content = nullptr;
};

/// What the stream holds, as read after connecting.
struct stream_tail {
    std::uint64_t last_sequence = 0;
    /// Of the stream's last message, if walrelay wrote it and it is still there.
    std::optional<position> last_position;
};

/// What a reply means for the lane.
enum class lane_verdict {
    /// All is well, or the reply is of an earlier epoch.
    carry_on,
    /// The stream's tail must be read again: close, connect, open.
    resync,
    /// The broker will never take the message `refused_message()`.
    message_refused,
    /// The stream must be changed by an operator.
    stream_unsuitable,
};

class lane {
public:
    explicit lane(lane_options options);

    // The side of the source.

    /// The history whose positions the next messages have. A change of history forgets what was
    /// skipped by position, because positions of two histories cannot be compared.
    void set_history(history origin);
    /// Whether the stream or the window already has an event of this position.
    [[nodiscard]] bool covers(commit_position where) const;
    /// Whether the window takes another message. A message larger than the window goes alone.
    [[nodiscard]] bool has_room() const;
    /// An empty message to be filled, and then to be admitted or left (the next call gives it
    /// again).
    [[nodiscard]] message& vacancy();
    void admit();

    // The side of the broker.

    /// A connection is ready. `epoch` is greater than every earlier one.
    void open(std::uint64_t epoch, const stream_tail& tail);
    void close() { epoch_open_ = false; }
    [[nodiscard]] bool is_open() const { return epoch_open_; }
    /// The next message to hand to the broker, if there is one.
    [[nodiscard]] std::optional<outgoing> next_to_send(monotonic_time now);
    [[nodiscard]] lane_verdict on_reply(publish_token token, const publish_outcome& outcome,
                                        monotonic_time now);
    /// When the oldest publish counts as lost: the time-out after it was handed over, or after the
    /// last ack, because a slow link may need long for a whole window. Nothing if none is in
    /// flight.
    [[nodiscard]] std::optional<monotonic_time> ack_deadline() const;

    // What is known.

    /// Every event up to this one is stored; nothing if that is not known for any.
    [[nodiscard]] std::optional<commit_position> stored_up_to() const { return stored_; }
    [[nodiscard]] bool empty() const { return first_ == end_; }
    [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(end_ - first_); }
    [[nodiscard]] std::size_t size_bytes() const { return bytes_; }
    /// How many messages the broker has acked since the start of the process.
    [[nodiscard]] std::uint64_t stored_count() const { return stored_count_; }
    /// The message of the last verdict message_refused, and why.
    [[nodiscard]] const message& refused_message() const { return at(refused_).content; }
    /// What the broker said with the last verdict other than carry_on.
    [[nodiscard]] const std::string& last_trouble() const { return last_trouble_; }

private:
    struct entry {
        message content;
        monotonic_time sent_at;
        std::uint64_t expected_last_sequence = 0;
        bool stored = false;
    };

    [[nodiscard]] entry& at(std::uint64_t index) { return ring_[index % ring_.size()]; }
    [[nodiscard]] const entry& at(std::uint64_t index) const { return ring_[index % ring_.size()]; }
    [[nodiscard]] bool in_flight(publish_token token) const;
    lane_verdict on_stored(std::uint64_t index, std::uint64_t sequence);
    lane_verdict on_duplicate(std::uint64_t index, std::uint64_t sequence);
    void mark_stored(std::uint64_t index);
    void forget_first();
    void skip_what_the_tail_has();
    lane_verdict trouble(lane_verdict verdict, std::string words);

    lane_options options_;
    std::vector<entry> ring_;
    // Absolute counts: first_ <= next_ <= end_; [first_, next_) is in flight, [next_, end_) waits.
    std::uint64_t first_ = 0;
    std::uint64_t next_ = 0;
    std::uint64_t end_ = 0;
    std::size_t bytes_ = 0;
    std::uint64_t epoch_ = 0;
    bool epoch_open_ = false;
    std::uint64_t expected_last_sequence_ = 0;
    /// The stream's last sequence when this connection, or this history, began.
    std::uint64_t opened_at_ = 0;
    monotonic_time last_ack_at_;
    history history_;
    /// Of the last message known to be in the stream, whatever its history.
    std::optional<position> tail_;
    /// The tail is of this history, so every event up to it is stored and none beyond it is.
    bool tail_known_ = false;
    std::optional<commit_position> admitted_;
    std::optional<commit_position> stored_;
    std::uint64_t stored_count_ = 0;
    std::uint64_t refused_ = 0;
    std::string last_trouble_;
};

}  // namespace walrelay::relay
