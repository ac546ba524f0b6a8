// Answers HTTP on the relay's own loop, so that a loop which hangs shows as one that does not
// answer. Read-only: GET and HEAD. Knows nothing of the relay beside what a report_source tells.
#pragma once

#include "http/listener.hpp"
#include "http/routes.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace walrelay::http {

struct server_limits {
    /// Of the request line and the headers.
    std::uint32_t header_bytes = 8192;
    /// For the first byte of the first request, for the rest of each, and for taking the answer.
    std::chrono::milliseconds request_time{5000};
    /// Between two requests of a connection.
    std::chrono::milliseconds idle_time{30000};
    /// Beyond, the one that has been idle for longest is closed for a new one.
    std::size_t connections = 64;
    /// Many who ask for the metrics within this time get the same ones, in as far as the state is
    /// the same: making them is most of the work.
    std::chrono::milliseconds metrics_for{10};
};

struct server_options {
    /// Names under which the relay may be asked, besides IP addresses and localhost.
    std::vector<std::string> hosts = {};
    server_limits limits = {};
};

class server {
public:
    /// Accepts from now on, on the thread that runs the executor. `on` need not outlive it.
    server(const boost::asio::any_io_executor& executor, const listener& on, server_options options,
           report_source source);
    server(const server&) = delete;
    server& operator=(const server&) = delete;
    server(server&&) = delete;
    server& operator=(server&&) = delete;
    /// Closes what is open. No report is asked for any more.
    ~server();

    struct state;

private:
    std::shared_ptr<state> state_;
};

}  // namespace walrelay::http
