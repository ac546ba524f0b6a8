// Spans that wait to be exported: the relay's thread puts them in, the exporter's takes them out.
// It is bounded, and whoever puts one in never waits for room.
#pragma once

#include "traces/span.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <vector>

namespace walrelay::traces {

struct queue_limits {
    std::size_t spans = 4096;
    std::size_t bytes = std::size_t{8} << 20U;
    /// Of one batch; a larger span goes alone.
    std::size_t batch_spans = 512;
    std::size_t batch_bytes = std::size_t{1} << 20U;
    /// How long the first span waits for others.
    std::chrono::milliseconds gather{1000};
};

class span_queue {
public:
    explicit span_queue(queue_limits limits = {}) : limits_(limits) {}

    /// False where there is no room, or nothing is taken any more.
    [[nodiscard]] bool push(span one);
    /// Waits for spans. Empty once it is closed and nothing is left.
    [[nodiscard]] std::vector<span> take_batch();
    /// Waits so long, or until it is closed.
    void pause(std::chrono::milliseconds longest);
    /// Nothing more comes in; nobody waits any more.
    void close();

private:
    [[nodiscard]] bool is_batch_full() const {
        return waiting_.size() >= limits_.batch_spans || bytes_ >= limits_.batch_bytes;
    }

    queue_limits limits_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<span> waiting_;
    std::size_t bytes_ = 0;
    bool closed_ = false;
};

}  // namespace walrelay::traces
