#include "traces/span_queue.hpp"

#include <utility>

namespace walrelay::traces {

bool span_queue::push(span one) {
    const auto bytes = one.size_bytes();
    const std::lock_guard lock(mutex_);
    if (closed_ || waiting_.size() >= limits_.spans || bytes_ + bytes > limits_.bytes) {
        return false;
    }
    const bool was_full = is_batch_full();
    waiting_.push_back(std::move(one));
    bytes_ += bytes;
    if (waiting_.size() == 1 || is_batch_full() != was_full) {
        changed_.notify_all();
    }
    return true;
}

std::vector<span> span_queue::take_batch() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return closed_ || !waiting_.empty(); });
    changed_.wait_for(lock, limits_.gather, [this] { return closed_ || is_batch_full(); });
    std::vector<span> batch;
    std::size_t bytes = 0;
    while (!waiting_.empty() && batch.size() < limits_.batch_spans) {
        const auto next = waiting_.front().size_bytes();
        if (!batch.empty() && bytes + next > limits_.batch_bytes) {
            break;
        }
        batch.push_back(std::move(waiting_.front()));
        waiting_.pop_front();
        bytes += next;
    }
    bytes_ -= bytes;
    return batch;
}

void span_queue::pause(std::chrono::milliseconds longest) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, longest, [this] { return closed_; });
}

void span_queue::close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
}

}  // namespace walrelay::traces
