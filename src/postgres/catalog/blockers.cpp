#include "postgres/catalog/blockers.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace walrelay::postgres {
namespace {

/// Without the statement, which can hold values of rows, or a password. $1 the process that waits.
/// The number of a prepared transaction is 0.
constexpr const char* blockers_sql = R"sql(
SELECT blocking.pid, coalesce(a.usename, ''), coalesce(a.application_name, ''),
       coalesce(a.state, ''),
       coalesce(floor(extract(epoch FROM clock_timestamp() - a.xact_start))::text, '')
  FROM (SELECT DISTINCT pid FROM unnest(pg_blocking_pids($1::int4)) AS each (pid)) AS blocking
  LEFT JOIN pg_stat_activity AS a ON a.pid = blocking.pid
 ORDER BY a.xact_start, blocking.pid LIMIT 3
)sql";

std::string describe(const row_set& rows, std::size_t row) {
    const auto process = rows.text(row, 0);
    if (process == "0") {
        return "a prepared transaction (SELECT * FROM pg_prepared_xacts)";
    }
    auto text = "process " + process;
    if (!rows.text(row, 1).empty()) {
        text += " of role " + rows.text(row, 1);
    }
    if (!rows.text(row, 2).empty()) {
        text += " (" + rows.text(row, 2) + ")";
    }
    if (rows.text(row, 3).empty()) {
        return text + ", what it does is hidden from walrelay's role (pg_read_all_stats shows it)";
    }
    text += ", " + rows.text(row, 3);
    if (!rows.text(row, 4).empty()) {
        text += ", its transaction is " + rows.text(row, 4) + " s old";
    }
    return text;
}

}  // namespace

boost::asio::awaitable<result<std::string>> describe_blockers(connection& sql, int process) {
    std::vector<std::string> which{std::to_string(process)};
    const auto rows = co_await sql.query(blockers_sql, std::move(which));
    if (!rows) {
        co_return rows.error();
    }
    if (rows->empty()) {
        co_return "it waits for no lock: the server is slow, or the commit of these rows waits for "
                  "a synchronous standby (SELECT pid, application_name FROM pg_stat_activity WHERE "
                  "wait_event = 'SyncRep')";
    }
    std::string text;
    for (std::size_t row = 0; row < rows->size(); ++row) {
        text += (row == 0 ? "it waits for a lock of " : "; and of ") + describe(*rows, row);
    }
    co_return text + fmt::format(
                         " (SELECT * FROM pg_stat_activity WHERE pid = ANY "
                         "(pg_blocking_pids({})))",
                         process);
}

}  // namespace walrelay::postgres
