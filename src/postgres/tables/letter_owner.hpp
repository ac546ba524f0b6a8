// Whose a dead letter is: several relays of one database, or of one table, each have their own. A
// letter names the slot of its relay; those of 0.2.0 do not.
//
// Through a connection of connection_kind::sql.
#pragma once

#include "core/error.hpp"
#include "postgres/session/connection.hpp"
#include "postgres/session/server_error.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>
#include <string_view>

namespace walrelay::postgres {

struct letter_owner {
    std::string slot = {};
    /// Letters without a slot are its own as well: no other slot of the database is walrelay's.
    bool has_unnamed = true;

    /// The first two parameters of a statement with `own_letters_sql` in it.
    [[nodiscard]] std::string unnamed() const { return has_unnamed ? "true" : "false"; }
};

/// Errors: those of `connection::query`.
[[nodiscard]] boost::asio::awaitable<result<letter_owner>> find_letter_owner(connection& sql,
                                                                             std::string slot);

/// Two from-items: `letter` has the columns of walrelay.dead_letter, also of one that an earlier
/// version made, where those that it lacks are NULL: a name that the inner table does not have is
/// that of the outer item.
inline constexpr std::string_view letters_sql = R"sql(
       (SELECT NULL::text AS slot, NULL::bigint AS retry_sequence,
               NULL::text AS retry_fate) AS lacking,
       LATERAL (SELECT l.id, l.position, l.source_schema, l.source_table, l.message_id, l.subject,
                       l.headers, l.event, l.reason, l.error_code, l.attempts, l.committed_at,
                       l.dead_at, l.retries, l.retried_at, slot, retry_sequence, retry_fate
                  FROM walrelay.dead_letter AS l) AS letter
)sql";

/// A condition on `letter`: of the slot $1; $2 says whether those without a slot are its own. What
/// was left out names its slot in any case.
inline constexpr std::string_view is_own_letter_sql = R"sql(
       (letter.slot = $1 OR (letter.slot IS NULL
        AND CASE WHEN letter.position LIKE 'left out of %'
                 THEN pg_catalog.starts_with(letter.position, 'left out of ' || $1 || ': ')
                 ELSE $2::bool END))
)sql";

/// The same, and all that have no slot: an operator sees them with each of the slots.
inline constexpr std::string_view may_be_own_letter_sql = R"sql(
       (letter.slot = $1 OR (letter.slot IS NULL
        AND (letter.position NOT LIKE 'left out of %'
             OR pg_catalog.starts_with(letter.position, 'left out of ' || $1 || ': '))
        AND $2::bool IS NOT NULL))
)sql";

/// What has become of `letter`.
inline constexpr std::string_view letter_state_sql =
    "CASE WHEN letter.retries = 0 OR letter.retry_fate = 'failed' THEN 'open' "
    "WHEN letter.retry_fate = 'lost' THEN 'lost' "
    "WHEN letter.retry_fate IS NULL THEN 'queued' ELSE 'retried' END";

/// A condition on `letter`: its row is still to become a message. Also one that is queued, until
/// its message was seen in the stream.
inline constexpr std::string_view is_open_letter_sql =
    "(letter.retries >= 0 AND coalesce(letter.retry_fate, '') NOT IN ('stored', 'dead_letter'))";

/// A condition on `letter`: a retry of it is to be asked for.
inline constexpr std::string_view awaits_retry_sql =
    "(letter.retries = 0 OR (letter.retries > 0 AND letter.retry_fate IN ('lost', 'failed')))";

/// Whether the server says that a column is not there: the table is one of an earlier version.
[[nodiscard]] bool lacks_column(const server_report& report);

}  // namespace walrelay::postgres
