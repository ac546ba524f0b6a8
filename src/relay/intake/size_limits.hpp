// What a message may weigh, and what it does. Pure.
#pragma once

#include "core/error.hpp"
#include "core/facts.hpp"
#include "core/message.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace walrelay::relay {

/// What the broker takes at most; both count headers and body together.
struct size_limits {
    std::uint64_t max_payload_bytes = 0;  // of the connection, 0 is not known
    std::int64_t max_message_bytes = -1;  // of the stream, -1 is unlimited

    /// The lesser of both.
    [[nodiscard]] std::uint64_t least() const;
    /// Errors: message_too_large.
    [[nodiscard]] result<void> check(const message& candidate) const;
};

/// What a publish of this message puts on the wire as headers and body, in bytes; exact for the
/// headers that nats.c writes ("Name: value" CR LF each, after "NATS/1.0" CR LF).
[[nodiscard]] std::uint64_t wire_bytes(const message& content);

/// Why no message of walrelay fits, not even the smallest: no row is read before that is changed. A
/// limit under which nothing passes is nobody's wish for dead letters.
[[nodiscard]] std::optional<error> leaves_no_room(const broker_facts& facts,
                                                  const std::string& stream);

}  // namespace walrelay::relay
