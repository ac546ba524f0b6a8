// A connection to the broker in one thread: nats.c as the caller's own loop drives it, without a
// thread or a lock of the library's between a message and the caller.
#pragma once

#include "support/nats_handles.hpp"

#include <poll.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace walrelay::bench {

class loop_connection {
public:
    /// Connects and subscribes; throws std::runtime_error. `inbox` may end in a wildcard.
    loop_connection(const std::string& url, const std::string& inbox);
    ~loop_connection();
    loop_connection(const loop_connection&) = delete;
    loop_connection& operator=(const loop_connection&) = delete;

    [[nodiscard]] natsConnection* handle() const { return link_.get(); }
    /// What to wait for with poll(2).
    [[nodiscard]] pollfd interest() const;
    /// Does what poll(2) has found possible, then calls `take` with every message that arrived.
    void process(short ready, const std::function<void(natsMsg*)>& take);
    /// Hands what was published to the socket, as far as the socket takes it.
    void write();

private:
    static natsStatus attach(void** user, void* loop, natsConnection* link, natsSock socket);
    static natsStatus want_read(void* user, bool wanted);
    static natsStatus want_write(void* user, bool wanted);
    static natsStatus detach(void* user);

    natsSock socket_ = -1;
    std::atomic<bool> write_wanted_ = false;
    test::connection_handle link_;
    test::subscription_handle subscription_;
};

/// A prefix for reply subjects that nobody else uses; ends in a dot.
[[nodiscard]] std::string new_inbox();

[[nodiscard]] std::string_view body_of(natsMsg* message);

/// The sequence number in the broker's answer to a publish; 0 if it is none. Throws
/// std::runtime_error if the broker refused the message.
[[nodiscard]] std::uint64_t acked_sequence(std::string_view answer);

}  // namespace walrelay::bench
