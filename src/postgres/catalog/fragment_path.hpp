// Where statements with fragments of the configuration look for names: in those schemas of the
// role's own search_path in which nobody can create what would then run as walrelay.
#pragma once

#include "core/error.hpp"
#include "core/outbox_table.hpp"
#include "postgres/session/connection.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>
#include <vector>

namespace walrelay::postgres {

struct fragment_path {
    /// For SET search_path: pg_catalog first, pg_temp last.
    std::string text;
    /// Schemas of the role's search_path that are left out, because roles that are not to be
    /// trusted (trusted_roles.hpp) may create objects there, or own functions or operators in it.
    std::vector<std::string> open_schemas;
};

/// What it is for this role, database and these outbox tables. Leaves search_path = pg_catalog.
[[nodiscard]] boost::asio::awaitable<result<fragment_path>> find_fragment_path(
    connection& sql, std::vector<table_name> outboxes);

/// Finds it and sets it for the rest of the session.
[[nodiscard]] boost::asio::awaitable<result<fragment_path>> use_fragment_path(
    connection& sql, std::vector<table_name> outboxes);

/// For remedies: that names of the left-out schemas need their schema, and how a schema is closed.
/// Empty where none is left out.
[[nodiscard]] std::string explain_open_schemas(const std::vector<std::string>& open_schemas);

}  // namespace walrelay::postgres
