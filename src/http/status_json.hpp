// /status and /status/history: what the dashboard and `walrelay status` show.
#pragma once

#include "http/report.hpp"

#include <span>
#include <string>

namespace walrelay::http {

/// "schema" is 1; docs/monitoring.md describes it. Without payloads and without passwords.
[[nodiscard]] std::string status_json(const relay_report& of);

/// The oldest first.
[[nodiscard]] std::string history_json(std::span<const sample> samples);

}  // namespace walrelay::http
