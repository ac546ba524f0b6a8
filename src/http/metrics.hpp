// The relay's metrics, for Prometheus. docs/monitoring.md lists them.
#pragma once

#include "http/metric_writer.hpp"
#include "http/report.hpp"

#include <string>

namespace walrelay::http {

/// Labels have only values of closed sets and of the configuration.
[[nodiscard]] std::string metrics_text(const relay_report& of,
                                       metric_format format = metric_format::text);

}  // namespace walrelay::http
