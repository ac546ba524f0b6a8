// A time as people write it, read by the server's rules and clock.
#pragma once

#include "core/change.hpp"
#include "core/error.hpp"
#include "postgres/session/connection.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>

namespace walrelay::postgres {

/// A time as a person writes it, by PostgreSQL's rules in UTC; with `ago` at its end, an interval
/// before now. configuration_invalid.
[[nodiscard]] boost::asio::awaitable<result<wall_time>> read_time(connection& sql,
                                                                  std::string text);

}  // namespace walrelay::postgres
