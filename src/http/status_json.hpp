// /status and /status/history: what the dashboard and `walrelay status` show.
#pragma once

#include "http/json_writer.hpp"
#include "http/report.hpp"

#include <optional>
#include <span>
#include <string>

namespace walrelay::http {

/// "schema" is 1; docs/monitoring.md describes it. Without payloads and without passwords.
[[nodiscard]] std::string status_json(const relay_report& of);

/// As "facts", which is null where there are none.
void write_facts(json_writer& to, const std::optional<slot_usage>& slot);
void write_facts(json_writer& to, const std::optional<stream_usage>& stream);
void write_facts(json_writer& to, const std::optional<open_letters>& letters);
void write_facts(json_writer& to, const std::optional<kept_positions>& kept);
void write_facts(json_writer& to, const std::optional<std::vector<finding>>& findings);
/// The members of an object that is open; times are in seconds since 1970.
void write_kept_position(json_writer& to, const kept_position& one);

/// The oldest first.
[[nodiscard]] std::string history_json(std::span<const sample> samples);

}  // namespace walrelay::http
