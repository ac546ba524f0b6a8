// The end of a command that an operator must look into.
#pragma once

#include "app/exit_code.hpp"
#include "core/error.hpp"
#include "log/log.hpp"

namespace walrelay::app {

/// Says why, and gives the exit code.
inline int fail(const error& why) {
    log<"command_failed">(to_string(why), with<"error">(why.code));
    return exit_operator_needed;
}

}  // namespace walrelay::app
