// A row that cannot be delivered, as it is kept for an operator. Plain data.
#pragma once

#include "core/change.hpp"
#include "core/message.hpp"
#include "core/occasion.hpp"
#include "core/outbox_table.hpp"
#include "core/position.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace walrelay {

struct dead_letter {
    table_name source = {};
    /// Unique: a row that is met again after a restart is the same dead letter.
    position where = {};
    wall_time committed_at = {};
    /// Of the transaction that wrote the row; nothing where the row was read in a snapshot.
    std::optional<transaction_id> xid = {};
    /// What the message would have been; empty where the row could not be mapped that far.
    std::string message_id = {};
    std::string subject = {};
    std::vector<header> headers = {};
    /// The row, as a JSON array of its columns in the table's order:
    /// `[{"name":"id","type":2950,"value":"…"}, …]`. `type` is pg_type.oid, `value` the text of the
    /// output function (a bytea in hex without `\x`), null for NULL.
    std::string event = {};
    /// The text of the column that is mapped as id; nothing where the row has none.
    std::optional<std::string> key = {};
    /// One sentence: what is wrong with it, as the log says it.
    std::string reason = {};
    /// JetStream's err_code; 0 where the broker was not asked.
    std::int32_t error_code = 0;
    /// How often the message was offered to the broker.
    std::uint32_t attempts = 0;
    /// Where the row is that of a dead letter which was retried: it is that letter again.
    std::optional<letter_retry> retry = {};
};

/// How the reason begins of a replayed row that was too large to be read. Nothing but its table is
/// known of it: it has neither id nor content.
inline constexpr std::string_view large_replayed_row = "a row that was to be replayed has ";

[[nodiscard]] inline bool is_of_large_replayed_row(std::string_view message_id,
                                                   std::string_view reason) {
    return message_id.empty() && reason.starts_with(large_replayed_row);
}

}  // namespace walrelay
