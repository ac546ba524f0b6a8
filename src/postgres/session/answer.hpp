// The answer to one statement: rows, or the error in the server's own terms.
#pragma once

#include "postgres/session/row_set.hpp"
#include "postgres/session/server_error.hpp"

#include <boost/system/result.hpp>

#include <functional>

namespace walrelay::postgres {

using answer = boost::system::result<row_set, server_report>;

/// Gets the rows of an answer one by one, as they come: those of an answer that ends with an error,
/// too.
using row_visitor = std::function<void(const row_set& one)>;

}  // namespace walrelay::postgres
