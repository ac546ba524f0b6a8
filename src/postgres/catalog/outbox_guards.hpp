// Who else can act on the outbox tables, or keep walrelay from them: row-level security, code that
// runs where rows are changed, logical messages. Through a connection of connection_kind::sql.
#pragma once

#include "core/error.hpp"
#include "core/facts.hpp"
#include "postgres/session/connection.hpp"

#include <boost/asio/awaitable.hpp>

namespace walrelay::postgres {

/// Fills `hidden_from`, `trigger_makers`, `foreign_triggers` and its like of the tables, which are
/// those of the configuration, `message_writers`, and `writer` where that is not null. Needs no
/// right that PUBLIC lacks.
[[nodiscard]] boost::asio::awaitable<result<void>> inspect_guards(connection& sql,
                                                                  connection* writer,
                                                                  postgres_facts& facts);

}  // namespace walrelay::postgres
