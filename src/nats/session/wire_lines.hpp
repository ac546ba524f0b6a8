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

/// What makes a publish part of a fast batch (nats-server, server/stream.go, getFastBatch): its
/// reply subject names the batch, the message's number in it, and what it does to it.
struct batch_terms {
    /// No other batch of this stream has it: one token of at most 64 characters.
    std::string_view name;
    /// From 1; the first one begins the batch.
    std::uint32_t number = 1;
    /// The server tells of progress after so many messages.
    std::uint32_t flow = 1;
};

/// What is said of a publish beside its message.
struct publish_terms {
    /// The reply goes to this text followed by `index`, or by the words of `batch`.
    std::string_view inbox;
    std::uint64_t index = 0;
    std::optional<batch_terms> batch = {};
    /// Nats-Expected-Last-Sequence, where there is one.
    std::optional<std::uint64_t> expected_last_sequence = {};
    /// Nats-Expected-Stream, of what is not to be stored. What is stored must not have it: servers
    /// before 2.11 check it again when they fill a mirror or a source, which has another name, and
    /// so stays empty.
    std::string_view refused_unless_stream = {};
};

struct publish_line {
    /// What the server counts against max_payload: headers and body.
    std::size_t payload_bytes = 0;
    /// In `lines`: behind the inbox, and behind all of the reply subject.
    std::size_t reply_begin = 0;
    std::size_t reply_end = 0;
};

/// Appends one publish with its headers. Allocates only where `lines` has to grow.
publish_line append_publish(std::string& lines, const message& content, const publish_terms& terms);

/// That line's message ends its batch; before, it only went on with it.
void end_batch(std::string& lines, const publish_line& last);
/// The only message of a batch is published without one.
void publish_singly(std::string& lines, const publish_line& only, std::uint64_t index);

/// What follows the inbox in the subject of a reply.
struct reply_words {
    std::uint64_t index = 0;
    /// Of a publish in a batch, which `index` began: its number; 0 of others.
    std::uint32_t number = 0;
    bool ends_batch = false;
};
/// Nothing of words that no publish of this client has. `name` is what the names of its batches
/// begin with, before the index: a letter first. It has none where that is empty.
[[nodiscard]] std::optional<reply_words> read_reply_words(std::string_view words,
                                                          std::string_view name);

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
