// The answer to one statement: rows, or the error in the server's own terms.
#pragma once

#include "postgres/session/row_set.hpp"
#include "postgres/session/server_error.hpp"

#include <boost/system/result.hpp>

namespace walrelay::postgres {

using answer = boost::system::result<row_set, server_report>;

}  // namespace walrelay::postgres
