// The invariants, checked after everything that happens: order, no duplicate, no phantom, content,
// and that the slot never forgets what the stream does not have. Knows nothing of the relay.
#pragma once

#include "core/lsn.hpp"
#include "sim/database.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace walrelay::sim {

/// A message as it lies in the stream.
struct stored_message {
    std::uint64_t sequence = 0;
    std::string id;  // Nats-Msg-Id, empty where there is none
    std::string subject;
    std::string body;
    std::string position;  // Walrelay-Position, empty for a stranger's
    sim_time stored_at{0};
};

class checker {
public:
    explicit checker(const database& source) : source_(source) {}

    /// The stream has taken a message of walrelay's.
    void on_stored(const stored_message& taken);
    /// The stream has lost its end; `left` is what it still has.
    void on_stream_lost(const std::vector<stored_message>& left);
    /// A relay tells the server, or the slot is moved, to `flushed`.
    void on_confirmed(lsn flushed, const char* where) const;
    /// Two positions that one connection reported, one after the other.
    static void on_reported(lsn before, lsn flushed);

    /// Whether every committed row is in the stream.
    [[nodiscard]] bool is_complete() const { return first_missing() == source_.events().size(); }
    [[nodiscard]] std::size_t stored_count() const { return last_ + 1; }
    [[nodiscard]] std::size_t lost_count() const { return lost_.size(); }
    /// The first row that is not in the stream.
    [[nodiscard]] std::string missing_text() const;

private:
    static constexpr std::size_t none = static_cast<std::size_t>(-1);

    [[nodiscard]] std::size_t index_of(const stored_message& taken) const;
    [[nodiscard]] std::size_t first_missing() const { return last_ + 1; }

    const database& source_;
    /// Index of the last event in the stream; every one before it is there, or lost.
    std::size_t last_ = none;
    std::vector<std::size_t> lost_;
};

}  // namespace walrelay::sim
