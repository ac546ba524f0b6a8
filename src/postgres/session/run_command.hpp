// A statement whose rows nobody reads.
#pragma once

#include "postgres/session/connection.hpp"

#include <string>

namespace walrelay::postgres {

[[nodiscard]] boost::asio::awaitable<result<void>> run_command(connection& sql,
                                                               std::string statement);

}  // namespace walrelay::postgres
