// The part of the inspection that is about tables. Only for the .cpp files of this folder.
#pragma once

#include "core/error.hpp"
#include "core/facts.hpp"
#include "postgres/session/connection.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>
#include <vector>

namespace walrelay::postgres {

/// Fills tables, other_tables and domains. `publication` need not exist, and may be empty.
[[nodiscard]] boost::asio::awaitable<result<void>> inspect_tables(connection& sql,
                                                                  std::vector<table_name> asked,
                                                                  std::string publication,
                                                                  postgres_facts& facts);

}  // namespace walrelay::postgres
