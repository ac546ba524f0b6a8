#include "app/well_being.hpp"

#include "core/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

namespace walrelay::app {
namespace {

double seconds(std::chrono::steady_clock::duration time) {
    return std::chrono::duration<double>(time).count();
}

}  // namespace

std::uint64_t dead_letters_in(const relay_counts& counts) {
    std::uint64_t letters = 0;
    for (const auto& table : counts.tables) {
        letters +=
            std::accumulate(table.dead_letters.begin(), table.dead_letters.end(), std::uint64_t{0});
    }
    return letters;
}

std::optional<log_entry> well_being::line_at(const relay_status& status, const relay_counts& counts,
                                             instant now) {
    if (!said_at_) {
        said_at_ = now.monotonic;
        said_messages_ = counts.messages_stored;
    }
    const bool streams = status.state == relay_state::streaming;
    if (!streams && status.state != relay_state::standby && !gap_) {
        gap_ = {now.monotonic, counts.messages_stored, has_streamed_};
    }
    std::optional<log_entry> line;
    if (status.state == relay_state::standby) {
        // What it does once it takes over begins there.
        gap_.reset();
        has_streamed_ = false;
    }
    if (streams && gap_) {
        line = end_of_gap(counts.messages_stored - gap_->messages, now.monotonic);
        gap_.reset();
    } else if (every_ > std::chrono::milliseconds(0) && is_ready(status.state) &&
               now.monotonic - *said_at_ >= every_) {
        line = heartbeat(status, counts, now);
    }
    has_streamed_ = has_streamed_ || streams;
    if (line) {
        said_at_ = now.monotonic;
        said_messages_ = counts.messages_stored;
    }
    return line;
}

log_entry well_being::end_of_gap(std::uint64_t messages, monotonic_time now) const {
    const auto took = seconds(now - gap_->since);
    auto text =
        fmt::format("{} after {:.1f} s, {} stored", gap_->is_outage ? "recovered" : "caught up",
                    took, counted(messages, "message"));
    if (gap_->is_outage) {
        return log_entry::of<"recovered">(std::move(text), with<"seconds">(took),
                                          with<"messages">(messages));
    }
    return log_entry::of<"caught_up">(std::move(text), with<"seconds">(took),
                                      with<"messages">(messages));
}

log_entry well_being::heartbeat(const relay_status& status, const relay_counts& counts,
                                instant now) const {
    std::string state = to_string(status.state);
    const bool waits = status.state == relay_state::standby;
    const auto messages = counts.messages_stored - said_messages_;
    const auto took = seconds(now.monotonic - *said_at_);
    const auto lag = status.lag ? std::optional(seconds(*status.lag)) : std::nullopt;
    const auto letters = dead_letters_in(counts);
    auto words = state;
    std::ranges::replace(words, '_', ' ');
    words += waits ? ": another relay holds the slot"
                   : fmt::format(
                         ": {} stored in {:.0f} s, {}{} of {} in the window, {} since "
                         "the start",
                         counted(messages, "message"), took,
                         lag ? fmt::format("lag {:.1f} s, ", *lag) : "",
                         with_thousands(status.window_messages),
                         counted(status.window_limit_messages, "message"),
                         counted(letters, "dead letter"));
    return log_entry::of<"well">(std::move(words), with<"state">(std::move(state)),
                                 with<"seconds">(took), with<"messages">(messages),
                                 with<"lag_seconds">(waits ? std::nullopt : lag),
                                 with<"window_messages">(std::uint64_t{status.window_messages}),
                                 with<"window_limit">(std::uint64_t{status.window_limit_messages}),
                                 with<"dead_letters">(letters));
}

}  // namespace walrelay::app
