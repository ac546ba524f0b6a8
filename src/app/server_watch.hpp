// What both servers were asked in the background, for those who watch a relay: slot, stream, holder
// of the slot, open dead letters and findings. Asks no server.
#pragma once

#include "app/polled_answer.hpp"
#include "core/facts.hpp"
#include "core/finding.hpp"
#include "core/instant.hpp"
#include "core/relay_status.hpp"
#include "core/usage.hpp"
#include "core/wal_forecast.hpp"
#include "http/report.hpp"

#include <chrono>
#include <optional>
#include <vector>

namespace walrelay::app {

class server_watch {
public:
    // Nothing where the server had no answer.

    void slot_was_read(std::optional<slot_usage> usage, instant now);
    void stream_was_read(std::optional<stream_usage> usage, instant now);
    void holder_was_read(std::optional<slot_holder> holder, instant now);
    /// `rest` is the pause before they are counted again.
    void letters_were_read(std::optional<open_letters> found, instant now,
                           std::chrono::steady_clock::duration rest);
    void findings_were_read(std::optional<std::vector<finding>> found, instant now);

    [[nodiscard]] std::optional<slot_usage> slot(instant now, bool postgres_is_there) const;
    /// `looks`: the relay lives, and so looks for findings.
    void show_in(http::relay_report& report, instant now, bool looks) const;

private:
    polled_answer<slot_usage> slot_;
    wal_forecast forecast_;
    /// Of PostgreSQL's clock, to this one.
    std::optional<std::chrono::microseconds> clock_offset_;
    polled_answer<slot_holder> holder_;
    polled_answer<stream_usage> stream_;
    polled_answer<open_letters> letters_;
    polled_answer<std::vector<finding>> findings_;
};

}  // namespace walrelay::app
