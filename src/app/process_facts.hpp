// What the kernel says of this process.
#pragma once

#include "http/report.hpp"

namespace walrelay::app {

/// What cannot be read is 0.
[[nodiscard]] http::process_report read_process_facts();

}  // namespace walrelay::app
