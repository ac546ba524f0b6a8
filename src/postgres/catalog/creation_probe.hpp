// Asks PostgreSQL whether it would let the role make what walrelay needs, by making it in a
// transaction that is rolled back: rights that the catalogs show are not all that decides, event
// triggers do as well.
#pragma once

#include "core/error.hpp"
#include "core/facts.hpp"
#include "core/outbox_table.hpp"
#include "postgres/session/connection.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>
#include <vector>

namespace walrelay::postgres {

/// Takes `may_make_tables` back where walrelay.control is missing and cannot be made, and fills
/// `making_waits` where that is for the server's state. What passes by itself, like a lock that
/// somebody else has, says nothing. In a schema that somebody else can act through
/// (`schema_flaws`, to be read before) nothing is tried.
[[nodiscard]] boost::asio::awaitable<result<void>> probe_tables(connection& sql,
                                                                postgres_facts& facts);

/// Fills `publication_refused` or `publication_waits` where publication and slot are missing.
/// `tables` are those that it would have; without any it is not tried.
[[nodiscard]] boost::asio::awaitable<result<void>> probe_publication(connection& sql,
                                                                     std::string publication,
                                                                     std::vector<table_name> tables,
                                                                     postgres_facts& facts);

}  // namespace walrelay::postgres
