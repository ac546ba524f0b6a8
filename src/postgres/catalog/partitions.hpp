// The partitions of a table that is partitioned by time: which are over, and how one is detached.
// Knows nothing of what is in them.
#pragma once

#include "core/error.hpp"
#include "core/outbox_table.hpp"
#include "postgres/session/connection.hpp"

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace walrelay::postgres {

struct partition {
    table_name name = {};
    /// A detaching that broke off has to be finished first.
    bool half_detached = false;
};

struct partition_facts {
    /// pg_class.oid of the root; 0 where there is no such table.
    std::uint32_t table = 0;
    /// Ranges of one column that is a time. Without that the rest is empty.
    bool by_time = false;
    bool has_default = false;
    /// Those whose end is older than asked for, by the server's clock.
    std::vector<partition> over = {};
};

/// Of ranges without a time zone nobody knows whose time they are in: they are over when they are
/// so everywhere. `sql` is of connection_kind::sql, here and below.
[[nodiscard]] boost::asio::awaitable<result<partition_facts>> look_at_partitions(
    connection& sql, table_name root, std::chrono::milliseconds age);

/// In the way that holds nobody up, where the server has one. Errors: postgres_unsuitable where the
/// role may not, else errors that pass; the partition is attached then, or half detached.
[[nodiscard]] boost::asio::awaitable<result<void>> detach_partition(connection& sql,
                                                                    table_name root, partition one,
                                                                    bool has_default);

/// `where` is an SQL condition, or empty.
[[nodiscard]] boost::asio::awaitable<result<std::uint64_t>> count_rows(connection& sql,
                                                                       table_name table,
                                                                       std::string where);

}  // namespace walrelay::postgres
