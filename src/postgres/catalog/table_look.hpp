// What a table is that nobody has met yet: a relative of an outbox, or somebody else's. Decides
// nothing.
#pragma once

#include "core/error.hpp"
#include "core/outbox_table.hpp"
#include "core/table_sight.hpp"
#include "postgres/session/connection.hpp"

#include <boost/asio/awaitable.hpp>

#include <vector>

namespace walrelay::postgres {

/// As the catalog has it now. `sql` is of connection_kind::sql. Errors: postgres_lost,
/// postgres_unavailable.
[[nodiscard]] boost::asio::awaitable<result<table_sight>> look_at_table(
    connection& sql, table_name table, std::vector<table_name> outboxes);

}  // namespace walrelay::postgres
