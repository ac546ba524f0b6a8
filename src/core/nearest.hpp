// Which known name somebody may have meant.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace walrelay {

/// Characters to insert, delete, replace or swap with their neighbour to make one of the other.
[[nodiscard]] std::size_t edit_distance(std::string_view left, std::string_view right);

/// Without case (A to Z) and underscores: how people and libraries spell one name in several ways.
[[nodiscard]] std::string folded_name(std::string_view name);

/// The known name nearest to what was written; nothing if none is near enough to be meant. The
/// first of equals.
[[nodiscard]] std::optional<std::string> nearest(std::string_view written,
                                                 const std::vector<std::string>& known);

}  // namespace walrelay
