// Where log lines go: standard error, as text or as one JSON object a line (docs/log.md).
#pragma once

#include "config/settings.hpp"
#include "core/finding.hpp"
#include "core/log_entry.hpp"

#include <string>
#include <utility>

namespace walrelay {

/// To standard error; never waits for whoever reads it.
void set_up_log(const config::log_settings& settings);
/// Waits a moment until all of it is read. Nothing may be logged any more.
void end_log();

/// The one way into the log.
void write_to_log(log_entry line);
/// Lines that were only counted (log/log_fold) and are due. To be called every few seconds.
void write_counted_lines();

/// The same in short: `log<"slot_created">("created slot orders", with<"slot">(name))`.
template <name_literal Event, class... Fields>
void log(std::string text, Fields... fields) {
    write_to_log(log_entry::of<Event>(std::move(text), std::move(fields)...));
}

/// A finding as one log line of its severity.
void log_finding(const finding& found);

}  // namespace walrelay
