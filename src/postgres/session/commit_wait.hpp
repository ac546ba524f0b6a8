// What a commit of walrelay's own waits for.
#pragma once

#include "core/error.hpp"
#include "postgres/session/run_command.hpp"

#include <boost/asio/awaitable.hpp>

namespace walrelay::postgres {

/// For a session: a commit that a crash of the server takes back would be none.
inline constexpr const char* wait_for_flush_sql =
    "SELECT set_config('synchronous_commit', 'on', false) "
    "WHERE current_setting('synchronous_commit') = 'off'";

/// For a session at its beginning, and again in front of each transaction. Where
/// synchronous_standby_names names walrelay itself, or anybody, a commit waits until walrelay has
/// confirmed it, and walrelay until it is committed: then the flush on this server must do. Its
/// replication connection has the same application_name
/// (https://www.postgresql.org/docs/current/runtime-config-replication.html). What
/// pg_stat_replication says of it is hidden from ordinary roles.
inline constexpr const char* wait_for_others_sql = R"sql(
SELECT set_config('synchronous_commit', 'local', false)
 WHERE current_setting('synchronous_commit') NOT IN ('off', 'local')
   AND EXISTS (SELECT FROM unnest(string_to_array(translate(
                 lower(current_setting('synchronous_standby_names')), '()"', ',, '), ',')) AS name
                WHERE btrim(name) IN ('*', lower(current_setting('application_name'))))
)sql";

/// Runs wait_for_others_sql for the session. Errors: those of `connection::query`.
[[nodiscard]] inline boost::asio::awaitable<result<void>> wait_for_others(connection& sql) {
    return run_command(sql, wait_for_others_sql);
}

}  // namespace walrelay::postgres
