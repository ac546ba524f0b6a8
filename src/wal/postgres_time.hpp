// Times as PostgreSQL writes them: microseconds since 2000-01-01 00:00 UTC, and its ISO text form.
// Source: PostgreSQL, src/include/datatype/timestamp.h and src/backend/utils/adt/datetime.c
// (EncodeDateTime with USE_ISO_DATES).
#pragma once

#include "core/change.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace walrelay::wal {

/// In microseconds from 2000, in either direction: 73,000 years. Between any two times that are no
/// further away `wall_time` can hold the difference.
inline constexpr std::int64_t furthest_time = std::int64_t{1} << 61;

/// Nothing if the time lies further away than furthest_time: no transaction commits there.
[[nodiscard]] std::optional<wall_time> from_postgres_time(std::int64_t microseconds);

[[nodiscard]] std::int64_t to_postgres_time(wall_time time);

/// Reads "2026-01-31 12:34:56.789+00", with up to six digits after the point or without it. Nothing
/// if it is anything else: another offset means that the session's time zone is not UTC.
[[nodiscard]] std::optional<wall_time> parse_timestamp(std::string_view text);

}  // namespace walrelay::wal
