// When a status update is due, and its bytes. Pure.
//
// Updates go out on a timer (so that the server does not take the relay for dead, also while the
// broker is down), when the server asks, and soon after the confirmed position moved.
#pragma once

#include "core/instant.hpp"
#include "core/lsn.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace walrelay::relay {

/// How often the server is told where the relay is, for its wal_sender_timeout; 0 is never.
[[nodiscard]] std::chrono::milliseconds status_interval(std::chrono::milliseconds sender_timeout);

class feedback {
public:
    /// A replication connection begins. `sender_timeout` is the server's wal_sender_timeout, 0 for
    /// never.
    void begin(std::chrono::milliseconds sender_timeout, monotonic_time now);
    void end() { due_.reset(); }

    void received(lsn up_to);
    /// The server wants an answer at once.
    void requested(monotonic_time now) { due_at_latest(now); }
    void confirmed(lsn up_to, monotonic_time now);
    /// The server is to say once more where it is.
    void ask(monotonic_time now);

    [[nodiscard]] std::optional<monotonic_time> deadline() const { return due_; }
    /// The next update as the bytes of a CopyData message; sets the next deadline.
    [[nodiscard]] std::string take(instant now);

private:
    void due_at_latest(monotonic_time when);

    std::chrono::milliseconds interval_{0};
    std::optional<monotonic_time> due_;
    bool asks_ = false;
    lsn received_;
    lsn confirmed_;
};

}  // namespace walrelay::relay
