// Which transactions had not ended at a moment, so that xmin tells of a row whether its own had.
#pragma once

#include <string_view>

namespace walrelay::postgres {

/// A query of one row with `snapshot`, a pg_snapshot that also lists the subtransactions of what
/// is open. pg_current_snapshot() does not (PostgreSQL documentation, 9.27.8), and xmin of a row
/// that was written after a savepoint is such a one: the row would count as written before. Each
/// holds a lock on its own number until its top transaction ends (PostgreSQL source, xact.c,
/// AssignTransactionId). Of a transaction with very many of them all that came later counts as
/// open.
///
/// Locks are read after the snapshot: a transaction that ends in between counts as ended, or not.
/// So an LSN that is to be later than all that counts as ended must be read after the row is there,
/// which OFFSET 0 sees to: in the select list of the query around it.
inline constexpr std::string_view open_transactions_sql = R"sql(
SELECT (SELECT CASE WHEN count(*) <= 1000
                    THEN concat(pg_snapshot_xmin(now.snapshot), ':',
                                pg_snapshot_xmax(now.snapshot), ':',
                                string_agg(number::text, ',' ORDER BY number))
                    ELSE concat(pg_snapshot_xmin(now.snapshot), ':',
                                pg_snapshot_xmin(now.snapshot), ':') END::pg_snapshot
          FROM (SELECT pg_snapshot_xip(now.snapshot) AS number
                UNION
                SELECT whole.number
                  FROM (SELECT pg_snapshot_xmax(now.snapshot)::text::int8 AS next,
                               transactionid::text::int8 AS low
                          FROM pg_locks
                         WHERE locktype = 'transactionid' AND mode = 'ExclusiveLock' AND granted)
                       AS held,
                       LATERAL (SELECT (held.next / 4294967296 * 4294967296 + held.low
                                        - CASE WHEN held.low >= held.next % 4294967296
                                               THEN 4294967296 ELSE 0 END) AS value) AS counted,
                       LATERAL (SELECT CASE WHEN counted.value > 0
                                            THEN counted.value::text::xid8 END AS number) AS whole
                 WHERE whole.number >= pg_snapshot_xmin(now.snapshot)
                   AND whole.number < pg_snapshot_xmax(now.snapshot)) AS open) AS snapshot
  FROM (SELECT pg_current_snapshot() AS snapshot) AS now
OFFSET 0
)sql";

}  // namespace walrelay::postgres
