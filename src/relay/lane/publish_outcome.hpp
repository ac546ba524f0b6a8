// What the broker's answer to a publish means, and what follows from it.
//
// Source of the codes: nats-server, server/errors.json and server/stream.go
// (processJetStreamMsg). A code that is not known here never drops a message: it is a doubt, and a
// doubt is settled by looking at the stream's tail.
#pragma once

#include "core/error.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace walrelay::relay {

enum class outcome_class {
    /// In the stream, at `sequence`.
    stored,
    /// The broker has seen this Nats-Msg-Id before and kept the earlier message, at `sequence`.
    duplicate,
    /// The broker cannot take messages at the moment: wait and try again, in order.
    transient,
    /// It is not known what the stream holds: look at its tail and go on from there.
    doubt,
    /// This message will never be taken.
    refused,
    /// The stream or the account must be changed by an operator.
    unsuitable,
};

struct publish_outcome {
    outcome_class kind = outcome_class::doubt;
    std::uint64_t sequence = 0;   // of stored and duplicate
    std::int32_t error_code = 0;  // JetStream's err_code; 0 where there is none
    std::string server_said = {};
    /// The broker says that it is at work on this Nats-Msg-Id, which need not be true: a clustered
    /// server keeps the ids of publishes that failed.
    bool id_is_taken = false;
    /// The stream that has answered, where that is not the one that was meant: the subject belongs
    /// to that one. Of stored and duplicate it then has the message, and this relay's has not. The
    /// same name where it is one of another JetStream domain, which `server_said` names.
    std::string other_stream = {};
};

/// Reads the body of a reply, `{"stream":"S","seq":1}` or one with "error". `stream` is the one
/// that is published into, `domain` the JetStream domain that it is in (empty where that has none;
/// nothing where it is not known): what another one says is never an ack, but unsuitable. A reply
/// that names no domain, as servers write some of them, may be of any. Anything that is not such an
/// object, or an ack that names no stream, is a doubt.
[[nodiscard]] publish_outcome parse_publish_reply(
    std::string_view body, std::string_view stream,
    std::optional<std::string_view> domain = std::nullopt);

/// Why nothing more is published, of an outcome with another stream.
[[nodiscard]] error is_another_stream(const publish_outcome& outcome, const std::string& stream);

/// The sequence that the stream ends with, out of the server's answer to STREAM.INFO. Errors:
/// broker_unavailable, with the server's words.
[[nodiscard]] result<std::uint64_t> parse_last_sequence(std::string_view body);

/// Of a transient one: the command or the change by which an operator ends it, for `remedy` of an
/// error; empty where it passes by itself.
[[nodiscard]] std::string what_ends_it(std::int32_t error_code, std::string_view description);

/// What is to be done about a JetStream error.
[[nodiscard]] outcome_class classify(std::int32_t error_code, std::string_view description);

}  // namespace walrelay::relay
