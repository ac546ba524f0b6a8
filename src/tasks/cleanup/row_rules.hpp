// By which rules the clean-up of a table reads a message's id, and from which LSN on messages were
// published by them. A message of before may have the id of another row: the table had another
// message_id then, or another table had its name. Pure; what it says is kept with the consumer.
#pragma once

#include "core/lsn.hpp"
#include "core/position.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace walrelay::tasks {

struct row_rules {
    /// relay::fingerprint_of_ids.
    std::string fingerprint;
    /// pg_class.oid: one of the same name that was made since is another table.
    std::uint32_t table = 0;
    std::uint64_t system_identifier = 0;
    /// What was committed before it may have been published by other rules.
    lsn since = {};

    friend bool operator==(const row_rules&, const row_rules&) = default;
};

/// "rules=<fingerprint>.<table>.<system>.<LSN>", in hexadecimal.
[[nodiscard]] std::string to_string(const row_rules& rules);
/// Nothing where it is no such text.
[[nodiscard]] std::optional<row_rules> parse_row_rules(std::string_view text);

/// Since when a relay knows that its messages have the ids of today.
struct marked_ids {
    lsn since = {};
    /// The stream's mark says so, which every relay of the slot writes before it publishes by other
    /// rules. Else the relay took it for granted when it began.
    bool is_kept = false;
};

/// `now` with its `since`. `kept`: what was kept with the consumer; nothing where there was none,
/// empty where a version before this one made it, whose configuration is taken over. What is kept
/// there says nothing of a time when the table was not cleaned: the mark does. `wal_end`: what
/// another configuration, or another table, has published was committed before it.
[[nodiscard]] row_rules rules_after(row_rules now, const std::optional<std::string>& kept,
                                    marked_ids marked, lsn wal_end);

/// Whether a message of this position can have been published by other rules.
[[nodiscard]] bool came_before(const row_rules& rules, const commit_position& where);

}  // namespace walrelay::tasks
