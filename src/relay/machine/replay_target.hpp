// Another stream that a replay goes into: whose it is, and where the replay goes on there. Pure.
//
// Its mark (relay/machine/stream_owner) names the slot of replays, `<slot>_replay`, so that no
// relay takes it for its own, and what is replayed: the last message is the place to go on from
// only if all rows before it were chosen in the same way.
#pragma once

#include "core/error.hpp"
#include "core/facts.hpp"
#include "core/lineage.hpp"
#include "core/outbox_table.hpp"
#include "core/position.hpp"
#include "relay/machine/stream_owner.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::relay {

/// What decides which rows are in it, and where. From where to where is not in it: a later end goes
/// on with the same stream.
struct replay_rules {
    std::vector<table_name> tables = {};
    std::string subject = {};
    std::vector<std::string> aggregates = {};
    std::string to_subject = {};
};

/// The mark of such a stream. `slot` is that of the replays.
[[nodiscard]] stream_owner owner_of_replay(std::string slot, std::string database,
                                           std::uint64_t system_identifier,
                                           const replay_rules& rules);

/// The row of the last message, after which the replay goes on; nothing where the stream is new.
/// Errors: broker_unsuitable, where it is somebody else's, of other rows, of another history, or
/// not as the replay has left it.
[[nodiscard]] result<std::optional<position>> replay_goes_on_after(const std::string& stream,
                                                                   const stream_owner& owner,
                                                                   const stream_facts& there,
                                                                   const lineage& line);

/// What the stream has of the range, where it is not empty.
struct replayed_before {
    /// The row of its first message; nothing where that is not there any more.
    std::optional<position> first = {};
    position last = {};
    /// How many messages it has; nothing where some are gone.
    std::optional<std::uint64_t> messages = {};
};

/// Whether a range that begins with the row `begins` leaves no row out between the stream's and its
/// own, and none before them.
[[nodiscard]] result<void> joins_replayed(const std::string& stream, const position& begins,
                                          const replayed_before& there);

/// With what to do about it.
[[nodiscard]] error explain_replay_failure(error why, const std::string& stream);

}  // namespace walrelay::relay
