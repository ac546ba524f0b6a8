// Waits until rows that the WAL has told of are seen by other sessions.
//
// A commit is in the WAL, and so with whoever reads it, before it counts for others: for a moment,
// and where a synchronous standby has to agree for as long as that takes (RecordTransactionCommit
// in xact.c, SyncRepWaitForLSN in syncrep.c). An UPDATE in between finds no row, and says nothing.
#pragma once

#include "core/error.hpp"
#include "core/outbox_table.hpp"
#include "postgres/connection.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace walrelay::postgres {

/// How many of the keys $1 (an array of text) have no row that can be seen; with `pending`, none
/// that is pending, where the table says which those are: an UPDATE that sets a row back is not
/// seen at first either.
[[nodiscard]] std::string unseen_rows_sql(const outbox_table& table, std::string_view key_type,
                                          bool pending);

/// Returns once every row is seen that is there: one that is still missing when all transactions
/// have ended that ran at the beginning was deleted, or changed by others. What PostgreSQL refuses
/// here it refuses to the statement that follows as well, which explains it better: that is no
/// error. Errors: postgres_lost.
[[nodiscard]] boost::asio::awaitable<result<void>> wait_to_see_rows(connection& sql,
                                                                    std::string unseen_rows,
                                                                    std::vector<std::string> keys);

}  // namespace walrelay::postgres
