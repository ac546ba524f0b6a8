// One line of the log, for those who watch a relay.
#pragma once

#include "core/instant.hpp"

#include <string>

namespace walrelay {

struct log_line {
    wall_time at;
    std::string level;  // info | warning | error
    std::string event;
    std::string text;
};

}  // namespace walrelay
