// Shows events as they arrive: a line now and then, not thousands.
#pragma once

#include "demo/latency_book.hpp"
#include "support/stream_reader.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

namespace walrelay::demo {

/// Called by the thread that consumes; what is asked may be asked by any.
class live_list {
public:
    using clock = std::chrono::steady_clock;

    /// `at_most_every` says how often a line may be printed.
    live_list(latency_book& book, std::chrono::milliseconds at_most_every);

    void arrived(const test::stored_message& message);
    [[nodiscard]] std::uint64_t count() const { return count_; }
    /// Of the last message that has arrived; 0 before the first.
    [[nodiscard]] std::uint64_t last_sequence() const { return last_sequence_; }
    /// Whether an event has arrived that was committed after that moment.
    [[nodiscard]] bool has_event_since(clock::time_point when) const {
        return newest_commit_.load() > when;
    }
    /// From now on every event gets its line that is not the writer's, and of those one now and
    /// then.
    void show_others() { show_others_ = true; }

private:
    void print(const test::stored_message& message, std::optional<duration> latency) const;

    latency_book& book_;
    std::chrono::milliseconds at_most_every_;
    clock::time_point started_ = clock::now();
    clock::time_point printed_ = started_;
    std::atomic<std::uint64_t> count_ = 0;
    std::atomic<std::uint64_t> last_sequence_ = 0;
    std::atomic<clock::time_point> newest_commit_ = started_;
    std::atomic<bool> show_others_ = false;
};

}  // namespace walrelay::demo
