#include "app/process_watch.hpp"

#include "app/clock.hpp"
#include "core/rethrow.hpp"
#include "log/log.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace walrelay::app {

namespace asio = boost::asio;

namespace {

/// For `systemctl status`.
std::string line_of(const http::relay_report& of) {
    std::string line = to_string(of.status.state);
    std::ranges::replace(line, '_', ' ');
    if (!of.status.reason.empty()) {
        return line + ": " + of.status.reason;
    }
    if (of.status.is_leader) {
        line += fmt::format(", {:.0f} rows/s", of.recent.rows_per_second);
    }
    if (of.status.is_leader && of.status.lag) {
        line +=
            fmt::format(", lag {:.1f} s", std::chrono::duration<double>(*of.status.lag).count());
    }
    return line;
}

/// Null where none are wanted.
std::unique_ptr<traces::exporter> exporter_of(const config::settings& settings) {
    auto where = parse_collector_url(settings.traces.endpoint);
    if (!where) {
        return nullptr;
    }
    return std::make_unique<traces::exporter>(
        std::move(*where), settings.traces.headers,
        traces::origin{settings.traces.service_name, WALRELAY_VERSION, settings.postgres.slot,
                       settings.nats.stream});
}

}  // namespace

process_watch::process_watch(const config::settings& settings)
    : settings_(settings),
      board_(settings, WALRELAY_VERSION, now()),
      well_being_(settings.log.heartbeat),
      slow_(settings.log.slow, now().wall),
      traces_(exporter_of(settings)) {
    if (traces_) {
        board_.traces_from([this] { return traces_->counts(); });
    }
}

process_watch::~process_watch() {
    if (traces_) {
        traces_->stop();
        write_trace_line();
    }
}

void process_watch::write_trace_line() {
    if (const auto line = traces_ ? traces_->line_due() : std::nullopt) {
        write_to_log(*line);
    }
}

result<std::unique_ptr<process_watch>> process_watch::begin(const config::settings& settings) {
    std::unique_ptr<process_watch> watch(new process_watch(settings));
    if (settings.http.listen == "off") {
        return watch;
    }
    auto port = http::listener::open(settings.http.listen);
    if (!port) {
        return port.error();
    }
    log<"http_listening">("answering at http://" + port->address() + "/",
                          with<"address">(port->address()));
    if (!port->is_loopback()) {
        log<"http_exposed">(
            "http.listen = " + port->address() +
                " lets other machines read the health, metrics and status of this relay; fix: "
                "http.listen = \"127.0.0.1:8460\" keeps them to this machine",
            with<"address">(port->address()));
    }
    watch->port_.emplace(std::move(*port));
    return watch;
}

std::unique_ptr<http::server> process_watch::watch_over(const asio::any_io_executor& executor) {
    asio::co_spawn(executor, sample(executor), rethrow{});
    if (!port_) {
        return nullptr;
    }
    return std::make_unique<http::server>(
        executor, *port_, http::server_options{settings_.http.hosts, {}}, board_.source());
}

asio::awaitable<void> process_watch::sample(asio::any_io_executor executor) {
    using duration = std::chrono::steady_clock::duration;
    asio::steady_timer timer(executor);
    const auto& alive_every = notes_.alive_every();
    auto sample_at = now().monotonic;
    auto alive_at = sample_at;
    for (;;) {
        const auto at = now();
        if (alive_every && at.monotonic >= alive_at) {
            notes_.is_alive();
            alive_at = at.monotonic + *alive_every;
        }
        if (at.monotonic >= sample_at) {
            sample_once(at, sample_at);
            sample_at = at.monotonic + duration(status_board::sample_every);
        }
        timer.expires_at(alive_every ? std::min(sample_at, alive_at) : sample_at);
        co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
    }
}

void process_watch::sample_once(instant now, monotonic_time due) {
    board_.sample(now, std::chrono::duration_cast<std::chrono::microseconds>(now.monotonic - due));
    const auto status = board_.status(now);
    if (const auto line = well_being_.line_at(status, board_.counts(), now)) {
        write_to_log(*line);
    }
    if (const auto line = slow_.line_at(status, now)) {
        write_to_log(*line);
    }
    write_trace_line();
    write_counted_lines();
    if (notes_.are_wanted()) {
        notes_.status(line_of(board_.report(now)));
    }
}

}  // namespace walrelay::app
