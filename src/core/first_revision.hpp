// From where on each maker of descriptions of tables counts their revisions (core/change.hpp), so
// that none gives out another's: a mapper keeps what it derived from a description by this number.
#pragma once

#include <cstdint>

namespace walrelay::first_revision {

inline constexpr std::uint64_t range = std::uint64_t{1} << 60U;

/// wal2json describes the rows of updates apart from those of inserts.
inline constexpr std::uint64_t of_inserts = 0;
inline constexpr std::uint64_t of_updates = range;
inline constexpr std::uint64_t of_messages = 2 * range;
inline constexpr std::uint64_t of_snapshots = 3 * range;
inline constexpr std::uint64_t of_retries = 4 * range;
/// Rows of which the WAL lacks large values.
inline constexpr std::uint64_t of_fetched_rows = 5 * range;

}  // namespace walrelay::first_revision
