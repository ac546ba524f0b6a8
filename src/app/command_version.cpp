#include "app/commands.hpp"
#include "app/exit_code.hpp"

#include <fmt/format.h>

namespace walrelay::app {

int command_version() {
    fmt::print("walrelay {}\n", WALRELAY_VERSION);
    return exit_done;
}

}  // namespace walrelay::app
