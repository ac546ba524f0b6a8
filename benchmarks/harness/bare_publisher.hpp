// The least that publishes: lines of the NATS protocol that are ready but for their numbers, one
// socket, one thread, no library. What it reaches is what the broker takes.
#pragma once

#include "harness/message_like.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace walrelay::bench {

class bare_publisher {
public:
    /// Connects to `nats://<IPv4 address>:<port>`. Throws std::runtime_error, as everything here.
    bare_publisher(const std::string& url, const message_like& like, const publish_form& how);
    ~bare_publisher();
    bare_publisher(const bare_publisher&) = delete;
    bare_publisher& operator=(const bare_publisher&) = delete;

    /// Publishes the rows 0 to `rows` - 1 into an empty stream, at most `window` of them without an
    /// ack, and returns once all are acked.
    void publish(std::uint64_t rows, std::uint64_t window);

private:
    void send();
    void receive();
    /// Takes one line of the broker and what belongs to it off `text`; false if it is not all
    /// there.
    bool take_line(std::string_view& text);
    void take_answer(std::string_view answer);

    line_template lines_;
    std::string to_send_;
    std::string received_;
    std::uint64_t acked_ = 0;
    int socket_ = -1;
};

}  // namespace walrelay::bench
