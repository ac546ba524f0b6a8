#include "app/commands.hpp"
#include "app/exit_code.hpp"
#include "app/log.hpp"
#include "app/relay_driver.hpp"
#include "app/translate.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include <csignal>
#include <random>

namespace walrelay::app {
namespace {

void stop_on_signals(boost::asio::signal_set& signals, relay_driver& driver) {
    signals.async_wait([&](const boost::system::error_code& cancelled, int /*number*/) {
        if (!cancelled) {
            driver.stop();
            // A second signal ends the waiting for acks.
            stop_on_signals(signals, driver);
        }
    });
}

}  // namespace

int command_run(const config::settings& settings, bool skip_roll_call) {
    auto mappers = mappers_of(settings);
    if (!mappers) {
        log_error(to_string(mappers.error()));
        return exit_usage;
    }
    boost::asio::io_context io(1);
    boost::asio::signal_set signals(io, SIGTERM, SIGINT);
    std::random_device random;
    relay_driver driver(io, settings, std::move(*mappers), random());
    stop_on_signals(signals, driver);
    if (skip_roll_call) {
        driver.skip_roll_call();
    }
    driver.start();
    io.run();
    signals.cancel();
    driver.clean_up();
    return driver.exit_code().value_or(exit_operator_needed);
}

}  // namespace walrelay::app
