// delivery.on_halt = "stay": what a process does between a halt and the next life of its relay.
//
// Holds neither slot nor broker. Decides only when to go on; command_run does the rest.
#pragma once

#include "config/settings.hpp"
#include "core/error.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

namespace walrelay::app {

struct halted_relay {
    error why;
    /// It is in walrelay.halt, where it belongs there.
    bool kept = false;
};

/// Returns when the relay is to be started over: where the halt is durable, once it was resumed or
/// removed, else after delivery.backoff_max. Says every minute that it waits, and for what.
[[nodiscard]] boost::asio::awaitable<void> stay_halted(boost::asio::any_io_executor executor,
                                                       const config::settings& settings,
                                                       halted_relay halted);

}  // namespace walrelay::app
