// How coroutines of this folder wait: what failed comes as a value and is not thrown.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace walrelay::nats {

inline constexpr auto as_outcome = boost::asio::as_tuple(boost::asio::use_awaitable);

}  // namespace walrelay::nats
