// The lines of NATS's client protocol that walrelay sends. Pure: appends to a string, knows no
// socket. Source of the forms: docs.nats.io, "NATS Protocol"; headers:
// nats-architecture-and-design, ADR-4.
#pragma once

#include "core/message.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace walrelay::nats {

/// What is said of a publish beside its message.
struct publish_terms {
    /// The reply goes to this text followed by `index`.
    std::string_view inbox;
    std::uint64_t index = 0;
    /// Nats-Expected-Last-Sequence, where there is one.
    std::optional<std::uint64_t> expected_last_sequence;
    /// Nats-Expected-Stream, of what is not to be stored. What is stored must not have it: servers
    /// before 2.11 check it again when they fill a mirror or a source, which has another name, and
    /// so stays empty.
    std::string_view refused_unless_stream = {};
};

/// Appends one publish with its headers. Allocates only where `lines` has to grow. Returns what the
/// server counts against max_payload: headers and body, in bytes.
std::size_t append_publish(std::string& lines, const message& content, const publish_terms& terms);

/// Appends a request without a body, and the subscription `id` for one answer to it, which goes to
/// `inbox`.
void append_request(std::string& lines, std::string_view subject, std::string_view inbox,
                    unsigned id);

/// Appends a subscription; `id` is told with each message that comes of it.
void append_subscribe(std::string& lines, std::string_view subject, unsigned id);
/// Ends it.
void append_unsubscribe(std::string& lines, unsigned id);

inline constexpr std::string_view ping_line = "PING\r\n";
inline constexpr std::string_view pong_line = "PONG\r\n";

}  // namespace walrelay::nats
