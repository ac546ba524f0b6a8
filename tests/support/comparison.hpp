// Rows of an outbox against messages of a stream: is every row there, once, and in commit order?
#pragma once

#include "support/stream_reader.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::test {

/// What is compared of a message.
struct seen_event {
    std::uint64_t sequence = 0;
    std::string id;        // Nats-Msg-Id
    std::string position;  // Walrelay-Position
};

[[nodiscard]] seen_event seen(const stored_message& message);

struct comparison {
    /// Ids of committed rows that are not in the stream.
    std::vector<std::string> missing;
    /// Ids that are in the stream more than once, once for each time too many.
    std::vector<std::string> twice;
    /// Ids that are in the stream, but of no committed row.
    std::vector<std::string> unexpected;
    /// What stands in the stream behind something that was committed later, or has a position that
    /// is malformed, not above its predecessor's, or not the next in its transaction.
    std::vector<std::string> out_of_order;

    [[nodiscard]] bool flawless() const;
};

/// `committed` are the ids of all rows in the order of their commits.
[[nodiscard]] comparison compare(const std::vector<std::string>& committed,
                                 const std::vector<seen_event>& stream);

/// For people: how many of each, and the first few.
[[nodiscard]] std::string to_string(const comparison& result);

}  // namespace walrelay::test
