// A consumer that is told of every message of a stream as it arrives.
#pragma once

#include "support/stream_reader.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace walrelay::test {

class stream_follower {
public:
    /// Starts with that sequence, 1 being the stream's first. `arrived` is called in a thread of
    /// the NATS client, one message after the other, until the follower is gone. Throws
    /// std::runtime_error.
    stream_follower(const std::string& url, const std::string& stream,
                    std::function<void(const stored_message&)> arrived,
                    std::uint64_t first_sequence = 1);
    ~stream_follower();
    stream_follower(const stream_follower&) = delete;
    stream_follower& operator=(const stream_follower&) = delete;

private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace walrelay::test
