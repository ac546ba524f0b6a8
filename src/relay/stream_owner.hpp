// Whom a stream belongs to: the slot and the database that are relayed into it, as a mark in its
// description. Pure.
//
// A position does not name its database, so that two relays of different slots which write into one
// stream would each skip rows of the other. The system identifier tells a restored or upgraded
// server; it alone forbids nothing.
#pragma once

#include "relay/preflight.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace walrelay::relay {

struct stream_owner {
    std::string slot;
    std::string database;
    std::uint64_t system_identifier = 0;  // 0 is not known

    friend bool operator==(const stream_owner&, const stream_owner&) = default;
};

/// The mark: `walrelay slot=<slot> database=<database> system=<identifier>`. What is neither a
/// letter, a digit nor one of `-._` stands there as %XX.
[[nodiscard]] std::string to_string(const stream_owner& owner);

/// The mark in a description, wherever it stands there; nothing if there is none.
[[nodiscard]] std::optional<stream_owner> owner_in(std::string_view description);

/// What the description is to become, for this owner: the mark where it is empty, the same text
/// with the new mark where only the system identifier is another. Nothing if it stays as it is.
[[nodiscard]] std::optional<std::string> description_to_claim(const stream_owner& owner,
                                                              std::string_view description);

/// An error where the stream is marked as another's, although walrelay is to be its only writer.
[[nodiscard]] std::vector<finding> owner_findings(const expectations& wanted,
                                                  const stream_owner& owner,
                                                  std::string_view description);

}  // namespace walrelay::relay
