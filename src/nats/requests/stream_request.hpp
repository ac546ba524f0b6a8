// Requests to JetStream's API about a stream. Each over a short connection of its own, with
// the library's blocking calls, so that a right which is missing ends nothing else.
#pragma once

#include "core/change.hpp"
#include "core/error.hpp"
#include "core/facts.hpp"
#include "core/usage.hpp"
#include "nats/session/connect_options.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::nats {

/// Sets the description of `to.stream` and nothing else: the rest of the configuration goes back as
/// the server gave it, also what this version does not know. Gives the sequence that the stream
/// ended with then: the server that says so leads it, and was reached by the cluster's own leader
/// (processClusterUpdateStream, server/jetstream_cluster.go). Errors: broker_unavailable,
/// broker_unsuitable (no permission, no such stream).
[[nodiscard]] result<std::uint64_t> set_description(const connect_options& to,
                                                    const std::string& text);

/// Asks the server that leads `to.stream` to hand over, and waits a few seconds for another leader.
/// Errors: as above, broker_unsuitable also where there is no cluster.
[[nodiscard]] result<void> step_down(const connect_options& to);

/// Deletes `to.stream` with all its messages and consumers. Errors: as above.
[[nodiscard]] result<void> remove_stream(const connect_options& to);

/// Other streams than `to.stream` that have one of the subjects, also in part (STREAM.NAMES). None
/// where that is not told, as to a user who may not ask.
[[nodiscard]] std::vector<std::string> streams_of(const connect_options& to,
                                                  const std::vector<std::string>& subjects);

/// What the broker says of itself and of `to.stream`, without the stream's last messages but one.
/// Errors: broker_unavailable, broker_unsuitable (no permission, a file that cannot be used).
[[nodiscard]] result<broker_facts> facts_of(const connect_options& to);

/// The message of `to.asks_for` in `to.stream`. Errors: broker_unavailable, broker_unsuitable (no
/// permission, no such stream).
[[nodiscard]] result<asked_message> message_of(const connect_options& to);

struct stream_glance {
    /// When it was made.
    wall_time created;
    stream_usage usage;
    stream_limits limits = {};
    std::int64_t max_message_bytes = -1;  // -1 is unlimited
    std::uint64_t max_payload_bytes = 0;  // of the server that answered, 0 is not known
    std::string leader = {};              // see stream_facts
};

/// `to.stream` as it is now; nothing if there is none. Errors: broker_unavailable,
/// broker_unsuitable (no permission, a file that cannot be used).
[[nodiscard]] result<std::optional<stream_glance>> glance_at(const connect_options& to);

}  // namespace walrelay::nats
