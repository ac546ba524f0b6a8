// PostgreSQL's text of a timestamp, as a point in time, and a point in time as RFC 3339.
#pragma once

#include "core/change.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace walrelay::outbox {

/// Reads what PostgreSQL prints with datestyle ISO ("2024-02-29 12:30:00.5+00"). Without a zone it
/// is taken as UTC. Nothing for what RFC 3339 cannot say (infinity, BC, years above 9999) and for
/// any other text. Source: PostgreSQL documentation, "Date/Time Output".
[[nodiscard]] std::optional<wall_time> parse_timestamp(std::string_view text);

/// Appends "2024-02-29T12:30:00.5Z": the fraction without trailing zeros, as PostgreSQL prints it.
/// False, and nothing appended, outside of the years 1 to 9999.
[[nodiscard]] bool append_rfc3339(std::string& text, wall_time when);

/// The same from PostgreSQL's text, without the way over a point in time where the text is in UTC.
/// False, and nothing appended, where parse_timestamp gives nothing.
[[nodiscard]] bool append_rfc3339(std::string& text, std::string_view timestamp);

}  // namespace walrelay::outbox
