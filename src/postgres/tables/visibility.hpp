// Waits until other sessions see what the WAL has told of.
//
// A commit is in the WAL, and so with whoever reads it, before it counts for others: for a moment,
// and where a synchronous standby has to agree for as long as that takes (RecordTransactionCommit
// in xact.c, SyncRepWaitForLSN in syncrep.c). An UPDATE in between finds no row, and says nothing.
#pragma once

#include "core/change.hpp"
#include "core/error.hpp"
#include "postgres/session/connection.hpp"

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <optional>
#include <vector>

namespace walrelay::postgres {

/// How long to wait where whoever waits can try again later.
inline constexpr std::chrono::seconds visibility_patience{5};

/// Returns once every statement that `sql` begins from now on sees these transactions, which the
/// WAL calls committed. No other transaction is waited for, however long it runs. Errors:
/// postgres_lost, also where the patience is used up, which then names the transaction; without
/// `patience` there is no such end.
[[nodiscard]] boost::asio::awaitable<result<void>> wait_until_visible(
    connection& sql, std::vector<transaction_id> xids,
    std::optional<std::chrono::seconds> patience = visibility_patience);

}  // namespace walrelay::postgres
