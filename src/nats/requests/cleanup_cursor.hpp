// A place in a stream that the broker keeps: a durable pull consumer, headers only. Messages are
// handed out in batches and stay where they are; what is settled does not come again, what is not
// comes again after a while, to whoever asks next. Knows nothing of rows.
//
// A connection of its own with the library's blocking calls, for a thread of the caller's.
#pragma once

#include "core/error.hpp"
#include "nats/session/connect_options.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace walrelay::nats {

struct passed_message {
    std::uint64_t sequence = 0;
    /// When the broker stored it, by its clock.
    std::chrono::sys_time<std::chrono::nanoseconds> stored = {};
    /// How often it has been handed out, this time included.
    std::uint64_t deliveries = 1;
    std::string id = {};        // Nats-Msg-Id, empty where there is none
    std::string position = {};  // Walrelay-Position, likewise
    std::string subject = {};
};

/// The positions of messages before another one, the nearest first.
struct earlier_positions {
    std::vector<std::string> positions = {};
    /// The stream may have more of them, further away than one looks.
    bool cut_short = false;
};

/// What becomes of a message that was handed out: over and done where `again_after` is 0.
struct settlement {
    std::size_t index = 0;  // in the batch
    std::chrono::milliseconds again_after{0};
};

class cleanup_cursor {
public:
    /// `name` is that of the consumer, see consumer_name.
    cleanup_cursor(connect_options options, std::string name);
    cleanup_cursor(const cleanup_cursor&) = delete;
    cleanup_cursor& operator=(const cleanup_cursor&) = delete;
    ~cleanup_cursor();

    // On one thread at a time.

    /// Connects, and makes the consumer where it is missing: from the stream's first message on.
    /// Errors: as of stream_scan::open; broker_unsuitable where the account may not have consumers,
    /// and where the stream does not use limits retention.
    [[nodiscard]] result<void> open();
    /// note_in its description; nothing where `open` has made the consumer.
    [[nodiscard]] const std::optional<std::string>& note() const;
    /// Errors: as of `open`.
    [[nodiscard]] result<void> keep_note(std::string note);
    /// The next messages, in their order; none where nothing came for a while. The batch before
    /// must be settled. Errors: broker_unavailable, broker_lost.
    [[nodiscard]] result<std::vector<passed_message>> next();
    /// Of the last batch, each index at most once. Errors: as above; what was settled may come
    /// again then.
    [[nodiscard]] result<void> settle(const std::vector<settlement>& messages);
    /// What the stream has before and at a sequence number, with that header. Errors: as above.
    [[nodiscard]] result<earlier_positions> positions_before(std::uint64_t sequence,
                                                             std::size_t count);
    [[nodiscard]] result<std::string> position_at(std::uint64_t sequence);

    /// From any thread, at any time: ends what is under way, and all that is to come.
    void close();

private:
    struct state;
    std::unique_ptr<state> state_;
};

/// What cleanup_cursor::keep_note has kept in the description of a consumer; empty in one that a
/// version made which kept none. A description of anybody else's gives a text that no note has.
[[nodiscard]] std::string note_in(std::string_view description);

/// A name of a consumer that says what it is for, in characters that NATS takes. Different words
/// make different names.
[[nodiscard]] std::string consumer_name(const std::vector<std::string>& words);

}  // namespace walrelay::nats
