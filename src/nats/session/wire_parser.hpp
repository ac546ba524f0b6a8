// Takes apart what a NATS server sends. Pure: views over bytes that somebody else has read.
// Source of the forms: docs.nats.io, "NATS Protocol".
#pragma once

#include <cstddef>
#include <string_view>

namespace walrelay::nats {

enum class wire_verb {
    info,
    message,  // MSG and HMSG
    ping,
    pong,
    ok,
    err,
    /// The bytes end within an operation: more must be read.
    incomplete,
    /// The bytes are not of the protocol: the connection is of no use any more.
    malformed,
};

/// One operation; its views are of the bytes that it was taken from.
struct wire_operation {
    wire_verb verb = wire_verb::incomplete;
    /// Of a message.
    std::string_view subject = {};
    /// Of a message: from "NATS/1.0" on; empty where it has none.
    std::string_view headers = {};
    /// A message's body, the JSON of an INFO, the words of an -ERR; of what is malformed its
    /// beginning.
    std::string_view text = {};
};

/// Longer operations are malformed: nothing that walrelay asks for has so long an answer.
inline constexpr std::size_t operation_max_bytes = std::size_t{1024} * 1024;

/// Takes the first operation off `unread`, which stays as it is where that is incomplete or
/// malformed.
[[nodiscard]] wire_operation take_operation(std::string_view& unread);

/// The status of a message that carries one instead of a body, such as 503 where nobody serves the
/// subject; 0 for any other.
[[nodiscard]] unsigned status_of(const wire_operation& received);

}  // namespace walrelay::nats
