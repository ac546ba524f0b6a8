// Reads a stream, or what it has of a subject, once, headers only, in the order of its sequence
// numbers. A connection of its own with the library's blocking calls: for commands that do one
// thing and end.
#pragma once

#include "core/change.hpp"
#include "core/error.hpp"
#include "core/facts.hpp"
#include "nats/session/connect_options.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace walrelay::nats {

/// Views that live as long as the call that they are given to. A header that is not there is empty.
struct scanned_message {
    std::uint64_t sequence = 0;
    std::string_view subject = {};
    std::string_view id = {};        // Nats-Msg-Id
    std::string_view position = {};  // Walrelay-Position
    wall_time stored = {};
};

/// One message, kept.
struct known_message {
    std::string id = {};  // Nats-Msg-Id; empty where it has none
    std::string subject = {};
    wall_time stored = {};
};

/// How far a consumer of the stream has come, as its leader says.
struct consumer_place {
    /// All up to this sequence that it is to get are acked, and delivered.
    std::uint64_t acked = 0;
    std::uint64_t delivered = 0;
    /// Of the messages that it is to get, with wildcards; none: of all.
    std::vector<std::string> subjects = {};
    /// It asks for acks.
    bool acks = true;
};

class stream_scan {
public:
    /// Connects. Errors: as of connection::open; broker_unsuitable where there is no such stream.
    [[nodiscard]] static result<stream_scan> open(connect_options options);

    stream_scan(const stream_scan&) = delete;
    stream_scan& operator=(const stream_scan&) = delete;
    stream_scan(stream_scan&&) noexcept;
    stream_scan& operator=(stream_scan&&) noexcept;
    ~stream_scan();

    /// As of `open`.
    [[nodiscard]] const stream_facts& facts() const;

    /// Begins (again) with the message of this sequence, and goes to the stream's last one.
    void begin_at(std::uint64_t sequence);
    /// The same, and ends before the message of sequence `end`.
    void read_between(std::uint64_t begin, std::uint64_t end);
    /// From now on only messages whose subject is like this one; `>` is all.
    void read_only(const std::string& subject);
    /// The sequence of the first message that was stored at this time or later, as far as times
    /// ascend with sequences; after the last one where there is none. Errors: broker_unavailable.
    [[nodiscard]] result<std::uint64_t> first_since(wall_time time);
    /// Nothing where there is no such message. Errors: broker_unavailable.
    [[nodiscard]] result<std::optional<known_message>> message_of(std::uint64_t sequence);
    /// Nothing if there is no such consumer. Errors: as for `read`.
    [[nodiscard]] result<std::optional<consumer_place>> place_of(const std::string& consumer);

    /// Calls `visit` with every message that came after those that were read before, up to the last
    /// sequence that the stream has now, or to the end that was set, until it fails; all of them
    /// were visited where it succeeds (see stream_reading). Connects again where the connection
    /// ends. Uses a consumer of its own without acknowledgements, in the broker's memory, which it
    /// deletes at the end; should this program die meanwhile, the broker does so after a minute.
    /// Errors: broker_unavailable and broker_lost where the rest of the stream is unknown,
    /// broker_unsuitable (no permission), and those of `visit`.
    [[nodiscard]] result<void> read(
        const std::function<result<void>(const scanned_message&)>& visit);

    /// Up to which sequence the last reading went.
    [[nodiscard]] std::uint64_t read_to() const;

private:
    struct state;
    explicit stream_scan(std::unique_ptr<state> opened);
    std::unique_ptr<state> state_;
};

}  // namespace walrelay::nats
