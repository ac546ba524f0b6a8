// What a slot takes at the moment: as a part of a statement that asks for more.
#pragma once

#include "core/usage.hpp"
#include "postgres/session/row_set.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace walrelay::postgres {

/// One row from pg_replication_slots; none where there is no such slot. `slot`: the parameter with
/// its name, as "$1".
[[nodiscard]] std::string slot_usage_sql(std::string_view slot);

/// 0 for NULL, and for what is below 0: the end of the WAL is asked for a moment before.
[[nodiscard]] std::uint64_t size_in(const row_set& rows, std::size_t column, std::size_t row = 0);

/// From the columns of the first row, from `first` on; nothing where they are NULL, or no row is.
[[nodiscard]] std::optional<slot_usage> slot_usage_in(const row_set& rows, std::size_t first = 0);

}  // namespace walrelay::postgres
