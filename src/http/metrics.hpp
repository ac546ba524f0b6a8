// The relay's metrics, for Prometheus. docs/monitoring.md lists them.
#pragma once

#include "http/report.hpp"

#include <string>

namespace walrelay::http {

/// In the text format 0.0.4. Labels have only values of closed sets and of the configuration.
[[nodiscard]] std::string metrics_text(const relay_report& of);

}  // namespace walrelay::http
