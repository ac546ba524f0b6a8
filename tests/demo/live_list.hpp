// Shows events as they arrive: a line now and then, not thousands.
#pragma once

#include "demo/latency_book.hpp"
#include "support/stream_reader.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

namespace walrelay::demo {

/// Called by the thread that consumes.
class live_list {
public:
    /// `at_most_every` says how often a line may be printed.
    live_list(latency_book& book, std::chrono::milliseconds at_most_every);

    void arrived(const test::stored_message& message);
    [[nodiscard]] std::uint64_t count() const { return count_; }
    /// From now on every event gets its line that is not the writer's, and of those one now and
    /// then.
    void show_others() { show_others_ = true; }

private:
    using clock = std::chrono::steady_clock;
    void print(const test::stored_message& message, std::optional<duration> latency) const;

    latency_book& book_;
    std::chrono::milliseconds at_most_every_;
    clock::time_point started_ = clock::now();
    clock::time_point printed_ = started_;
    std::atomic<std::uint64_t> count_ = 0;
    std::atomic<bool> show_others_ = false;
};

}  // namespace walrelay::demo
