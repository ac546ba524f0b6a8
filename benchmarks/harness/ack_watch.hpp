// Sees the broker's acks on their way to whoever published, and notes when. It listens to all reply
// inboxes of the broker, so it needs nothing from the contender and works alike for all of them.
#pragma once

#include "harness/loop_connection.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <string>
#include <thread>
#include <vector>

namespace walrelay::bench {

using clock_type = std::chrono::steady_clock;

class ack_watch {
public:
    /// Of an empty stream; acks of sequence numbers above `most` are not noted.
    ack_watch(const std::string& url, const std::string& stream, std::size_t most);
    ~ack_watch();
    ack_watch(const ack_watch&) = delete;
    ack_watch& operator=(const ack_watch&) = delete;

    [[nodiscard]] std::size_t count() const { return count_; }
    /// Ends the watch; returns the moments by sequence number, where index 0 is number 1. One that
    /// was not seen is the clock's epoch. Throws what the watch has failed with.
    [[nodiscard]] std::vector<clock_type::time_point> stop();

private:
    void watch();
    void note(natsMsg* answer);

    std::string beginning_;
    loop_connection link_;
    std::vector<clock_type::time_point> seen_;
    std::atomic<std::size_t> count_ = 0;
    std::atomic<bool> over_ = false;
    std::exception_ptr failure_;
    std::thread thread_;
};

}  // namespace walrelay::bench
