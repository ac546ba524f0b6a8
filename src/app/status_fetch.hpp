// Asks a running relay for its status over HTTP.
#pragma once

#include "core/error.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <string>

namespace walrelay::app {

/// The body of /status of the relay that listens on `listen` (http.listen). An error where none
/// answers so within two seconds.
[[nodiscard]] boost::asio::awaitable<result<std::string>> fetch_status(
    boost::asio::any_io_executor executor, std::string listen);

}  // namespace walrelay::app
