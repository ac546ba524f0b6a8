// Whether a publication has been as it is for all that a slot still sends.
//
// pgoutput looks a publication up as it was when a change was written. It ends where there was none
// (before PostgreSQL 18) or passes the change over in silence (from 18 on, and where a table was
// not in it). What is older than the slot's catalog_xmin was there for all that the slot still
// sends.
#pragma once

#include "core/error.hpp"
#include "postgres/session/connection.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>
#include <vector>

namespace walrelay::postgres {

/// The parts of the publication that may be younger than what the slot still sends: `publication
/// p`, `table public.orders`, `schema s`. None where pgoutput leaves nothing out. Where the
/// publication is not there, it is named; where the slot is not, all parts are. walrelay's own
/// table of requests does not count.
[[nodiscard]] boost::asio::awaitable<result<std::vector<std::string>>> younger_than_slot(
    connection& sql, std::string slot, std::string publication);

}  // namespace walrelay::postgres
