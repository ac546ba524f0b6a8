// Outboxes whose name another role has taken, as walrelay.witness remembers their owners.
#pragma once

#include "core/error.hpp"
#include "core/facts.hpp"
#include "postgres/session/connection.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace walrelay::postgres {

/// Those of the `outboxes` that belong to another role than when they were first relayed for the
/// slot, unless it is a superuser, this session's role, the owner of the database, or a member of
/// the role that it was. None where the witness does not tell: it is not there, may not be read, or
/// is of another system. The schema walrelay must be one that is trusted (own_schema_flaws).
[[nodiscard]] boost::asio::awaitable<result<std::vector<taken_table>>> find_taken_tables(
    connection& sql, std::string slot, std::vector<table_name> outboxes,
    std::uint64_t system_identifier);

}  // namespace walrelay::postgres
