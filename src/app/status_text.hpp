// The JSON of /status as lines for a terminal.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace walrelay::app {

struct shown_status {
    std::string text;
    bool ready = false;
};

/// Nothing where it is not the status of a relay.
[[nodiscard]] std::optional<shown_status> show_status(std::string_view json);

/// "48.2 MB", "1.5 s": as people read them.
[[nodiscard]] std::string show_bytes(double bytes);
[[nodiscard]] std::string show_seconds(double seconds);

}  // namespace walrelay::app
