// Where log lines go: standard error, as text or as one JSON object a line.
#pragma once

#include "config/settings.hpp"
#include "core/finding.hpp"

#include <string>
#include <string_view>

namespace walrelay {

/// To standard error; never waits for whoever reads it.
void set_up_log(const config::log_settings& settings);
/// Waits a moment until all of it is read. Nothing may be logged any more.
void end_log();

/// Short names for spdlog's levels; `text` goes out as it is, never as a format.
void log_debug(std::string_view text);
void log_info(std::string_view text);
void log_warning(std::string_view text);
void log_error(std::string_view text);

/// A finding as one log line of its severity.
void log_finding(const finding& found);

}  // namespace walrelay
