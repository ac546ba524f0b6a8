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

}  // namespace walrelay::app
