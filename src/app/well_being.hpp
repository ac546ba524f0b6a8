// What the log says of a relay while all is well: that it has caught up, that it has recovered, and
// from time to time that it is well. What is wrong is said by others, where it happens.
#pragma once

#include "core/instant.hpp"
#include "core/log_entry.hpp"
#include "core/relay_counts.hpp"
#include "core/relay_status.hpp"

#include <chrono>
#include <cstdint>
#include <optional>

namespace walrelay::app {

/// That the relay has written.
[[nodiscard]] std::uint64_t dead_letters_in(const relay_counts& counts);

class well_being {
public:
    /// `every`: how often the log says that all is well; 0 for never.
    explicit well_being(std::chrono::milliseconds every) : every_(every) {}

    /// Called with each sample. Gives the line that is due, if there is one.
    [[nodiscard]] std::optional<log_entry> line_at(const relay_status& status,
                                                   const relay_counts& counts, instant now);

private:
    /// The time from where it was not streaming to where it is.
    struct gap {
        monotonic_time since;
        std::uint64_t messages = 0;
        /// It was streaming before.
        bool is_outage = false;
    };

    [[nodiscard]] log_entry end_of_gap(std::uint64_t messages, monotonic_time now) const;
    [[nodiscard]] log_entry heartbeat(const relay_status& status, const relay_counts& counts,
                                      instant now) const;

    std::chrono::milliseconds every_;
    std::optional<gap> gap_;
    bool has_streamed_ = false;
    std::optional<monotonic_time> said_at_;
    std::uint64_t said_messages_ = 0;
};

}  // namespace walrelay::app
