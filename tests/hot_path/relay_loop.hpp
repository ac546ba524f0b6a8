// The relay machine in full flow, driven as app/relay_driver drives it, with a broker that stores
// whatever it gets. What is measured is the machine and the lines to and from the broker; the loop
// around them allocates nothing.
#pragma once

#include "core/facts.hpp"
#include "core/outbox_table.hpp"
#include "relay/machine/relay_machine.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace walrelay::test {

struct loop_options {
    output_plugin plugin = output_plugin::pgoutput;
    body_format body = body_format::event;
    bool sole_writer = true;
    /// A smaller one is sooner warm.
    std::size_t window_messages = 4096;
};

class relay_loop {
public:
    /// Both servers are there and the table of event_frames is the only outbox.
    explicit relay_loop(const loop_options& options);

    /// Reads the frames, publishes what they hold, and hands in replies while the window is half
    /// full or more, as it is in a drain.
    void run(std::span<const std::string> frames);
    /// Hands in the replies that are left.
    void finish();

    [[nodiscard]] std::uint64_t published() const { return published_; }
    /// Whether every message is stored, and the slot may be told of the last transaction.
    [[nodiscard]] bool is_settled() const;

private:
    void connect(output_plugin plugin);
    void settle();
    void take(const relay::action& wanted);
    void reply(std::uint64_t messages);
    void pass(std::chrono::milliseconds time);
    void append_answer(const relay::publish_token& to);

    relay::relay_machine machine_;
    std::size_t window_messages_;
    instant now_;
    /// A ring: what is published and not yet stored.
    std::vector<relay::publish_token> in_flight_;
    std::uint64_t published_ = 0;
    std::uint64_t stored_ = 0;
    bool is_asked_ = false;  // what the stream has
    std::string lines_;      // to the broker
    std::string answers_;    // from the broker
    std::string body_;       // of one answer
    std::uint64_t broker_epoch_ = 0;
    std::uint64_t postgres_epoch_ = 0;
};

}  // namespace walrelay::test
