#include "app/clock.hpp"
#include "app/commands.hpp"
#include "app/exit_code.hpp"
#include "app/halt_stay.hpp"
#include "app/halted_servers.hpp"
#include "app/memory_limit.hpp"
#include "app/process_watch.hpp"
#include "app/relay_process.hpp"
#include "log/log.hpp"
#include "servers/translate.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/thread_pool.hpp>
#include <fmt/format.h>

#include <csignal>
#include <functional>
#include <random>

namespace walrelay::app {
namespace {

/// SIGTERM and SIGINT, also those that arrive between two lives of a relay.
class stop_signals {
public:
    stop_signals() { listen(); }

    [[nodiscard]] bool have_come() {
        io_.poll();
        return come_;
    }

private:
    void listen() {
        set_.async_wait([this](const boost::system::error_code& cancelled, int /*number*/) {
            come_ = come_ || !cancelled;
        });
    }

    boost::asio::io_context io_{1};
    boost::asio::signal_set set_{io_, SIGTERM, SIGINT};
    /// While it is wanted here, SIGHUP ends nothing.
    boost::asio::signal_set hang_ups_{io_, SIGHUP};
    bool come_ = false;
};

/// Calls it for every signal: a second one ends the waiting for acks.
void on_signals(boost::asio::signal_set& signals, const std::function<void()>& stop) {
    signals.async_wait(
        [&signals, stop](const boost::system::error_code& cancelled, int /*number*/) {
            if (!cancelled) {
                stop();
                on_signals(signals, stop);
            }
        });
}

void on_hang_ups(boost::asio::signal_set& signals) {
    signals.async_wait([&signals](const boost::system::error_code& cancelled, int /*number*/) {
        if (!cancelled) {
            log<"hang_up_ignored">(
                "SIGHUP: nothing is reopened; files of secrets are read anew at each connection, "
                "and what else is configured takes a restart");
            on_hang_ups(signals);
        }
    });
}

struct ended_life {
    int exit_code = exit_operator_needed;
    /// Where an operator is needed.
    std::optional<halted_relay> halted = {};
};

/// One relay from its start to its end, with all that it needs.
ended_life live(const config::settings& settings, std::vector<outbox::table_mapper> mappers,
                run_once decided, process_watch& watch) {
    boost::asio::io_context io(1);
    boost::asio::signal_set signals(io, SIGTERM, SIGINT);
    std::random_device random;
    relay_process process(io, settings, std::move(mappers), random());
    on_signals(signals, [&process, &watch] {
        watch.notes().stopping();
        process.stop();
    });
    process.be_watched_by(watch.board(), watch.is_wanted());
    if (watch.traces() != nullptr) {
        process.tell_of_acks(*watch.traces());
    }
    const auto answering = watch.watch_over(io.get_executor());
    boost::asio::signal_set hang_ups(io, SIGHUP);
    on_hang_ups(hang_ups);
    if (decided.skip_startup_check) {
        process.skip_startup_check();
    }
    if (decided.accept_history) {
        process.accept_history();
    }
    process.start();
    io.run();
    signals.cancel();
    hang_ups.cancel();
    process.clean_up();
    watch.board().detach(now());
    ended_life ended{process.exit_code().value_or(exit_operator_needed)};
    if (ended.exit_code == exit_operator_needed && process.halted_for()) {
        const auto& why = *process.halted_for();
        ended.halted = {why, why.code != errc::gap_found || process.halt_is_kept()};
        watch.board().has_halted(why);
    }
    return ended;
}

/// Until the relay may start over, or a signal.
void stay(const config::settings& settings, halted_relay relay, process_watch& watch) {
    boost::asio::io_context io(1);
    boost::asio::thread_pool blocking(1);
    boost::asio::signal_set signals(io, SIGTERM, SIGINT);
    on_signals(signals, [&io, &watch] {
        watch.notes().stopping();
        io.stop();
    });
    const auto answering = watch.watch_over(io.get_executor());
    boost::asio::signal_set hang_ups(io, SIGHUP);
    on_hang_ups(hang_ups);
    const auto rethrow = [](const std::exception_ptr& thrown) {
        if (thrown) {
            std::rethrow_exception(thrown);
        }
    };
    boost::asio::co_spawn(io, stay_halted(io.get_executor(), settings, std::move(relay)),
                          [&io, rethrow](const std::exception_ptr& thrown) {
                              rethrow(thrown);
                              io.stop();
                          });
    if (watch.is_wanted()) {
        const servers::executors on{io.get_executor(), blocking.get_executor()};
        boost::asio::co_spawn(io, watch_halted_postgres(on, settings, watch.board()), rethrow);
        boost::asio::co_spawn(io, watch_halted_broker(on, settings, watch.board()), rethrow);
    }
    io.run();
    blocking.join();
}

/// A row that takes more than there is would have the kernel end the process, at each start anew.
config::settings within_memory(config::settings settings, const std::filesystem::path& root) {
    const auto limit = memory_limit(root);
    if (!limit) {
        return settings;
    }
    auto& largest = settings.delivery.max_row_bytes.bytes;
    const auto window = settings.delivery.window_bytes.bytes;
    const auto fits = largest_row_within(*limit, window);
    const auto least = least_limit(window);
    if (fits < largest) {
        log<"row_limit_lowered">(
            fmt::format("rows above {} bytes become dead letters without their content, and not "
                        "only those above delivery.max_row_bytes = {}: the memory limit of this "
                        "process is {} bytes{}; fix: a limit of {} bytes or more, or a smaller "
                        "delivery.window_bytes",
                        fits, largest, *limit,
                        *limit < least ? fmt::format(", and rows up to that size, which are "
                                                     "published, can take {}: the kernel may end "
                                                     "the relay",
                                                     least)
                                       : "",
                        limit_for(largest, window)),
            with<"bytes">(fits));
        largest = fits;
    }
    return settings;
}

}  // namespace

int command_run(const config::settings& configured, run_once first_start,
                const std::filesystem::path& root) {
    // They mean nothing here, and would end it.
    std::signal(SIGUSR1, SIG_IGN);
    std::signal(SIGUSR2, SIG_IGN);
    stop_signals stop;
    const auto watch = process_watch::begin(configured);
    if (!watch) {
        log<"start_failed">(to_string(watch.error()), with<"error">(watch.error().code));
        return exit_usage;
    }
    (*watch)->notes().ready();
    const auto settings = within_memory(configured, root);
    for (bool first = true;; first = false) {
        auto mappers = servers::mappers_of(settings);
        if (!mappers) {
            log<"start_failed">(to_string(mappers.error()), with<"error">(mappers.error().code));
            return exit_usage;
        }
        auto ended = live(settings, std::move(*mappers), first ? first_start : run_once{}, **watch);
        const bool stays = ended.halted && settings.delivery.on_halt == config::halt_policy::stay;
        if (!stays || stop.have_come()) {
            return ended.exit_code;
        }
        stay(settings, std::move(*ended.halted), **watch);
        if (stop.have_come()) {
            log<"stopped_while_halted">("stopped while halted");
            return exit_done;
        }
    }
}

}  // namespace walrelay::app
