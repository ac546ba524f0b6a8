// A durable pull consumer of the stream. The only part that sees nats.c.
#pragma once

#include "consumer/mail_order.hpp"
#include "consumer/settings.hpp"

#include <chrono>
#include <memory>
#include <optional>

namespace memo {

/// Everything here throws std::runtime_error with the broker's words.
class subscription {
public:
    /// Makes the durable consumer where it does not exist.
    explicit subscription(const settings& options);
    ~subscription();
    subscription(const subscription&) = delete;
    subscription& operator=(const subscription&) = delete;

    /// The next message, which is then the current one; nothing if none comes in time.
    [[nodiscard]] std::optional<incoming> next(std::chrono::milliseconds patience);
    /// The current message is never to come again.
    void acknowledge();
    /// The current message is to come again after `delay`.
    void postpone(std::chrono::milliseconds delay);

private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace memo
