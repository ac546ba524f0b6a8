// How a process that runs a relay is watched from outside, over all lives of the relay: its port,
// its board, and what systemd is told.
#pragma once

#include "app/service_notes.hpp"
#include "app/slow_messages.hpp"
#include "app/status_board.hpp"
#include "app/well_being.hpp"
#include "config/settings.hpp"
#include "core/error.hpp"
#include "http/listener.hpp"
#include "http/server.hpp"
#include "traces/exporter.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <memory>
#include <optional>

namespace walrelay::app {

class process_watch {
public:
    /// Takes the port. errc::configuration_invalid where it cannot be had.
    [[nodiscard]] static result<std::unique_ptr<process_watch>> begin(
        const config::settings& settings);

    /// Sends the last spans, for a second at most.
    ~process_watch();
    process_watch(const process_watch&) = delete;
    process_watch& operator=(const process_watch&) = delete;

    /// Whether anybody asks how the servers are, too.
    [[nodiscard]] bool is_wanted() const { return port_ || notes_.are_wanted(); }
    [[nodiscard]] status_board& board() { return board_; }
    [[nodiscard]] service_notes& notes() { return notes_; }
    /// Null where no traces are wanted.
    [[nodiscard]] ack_observer* traces() { return traces_.get(); }

    /// Answers and samples on this executor, as long as what is returned lives. This must outlive
    /// the executor's context.
    [[nodiscard]] std::unique_ptr<http::server> watch_over(
        const boost::asio::any_io_executor& executor);

private:
    explicit process_watch(const config::settings& settings);

    boost::asio::awaitable<void> sample(boost::asio::any_io_executor executor);
    void sample_once(instant now, monotonic_time due);
    void write_trace_line();

    const config::settings& settings_;
    status_board board_;
    service_notes notes_;
    well_being well_being_;
    slow_messages slow_;
    std::optional<http::listener> port_;
    std::unique_ptr<traces::exporter> traces_;
};

}  // namespace walrelay::app
