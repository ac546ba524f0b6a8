// A JSON text without its long strings, so that an object of any size takes little memory.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace walrelay::wal {

/// `json` with null in place of every string that is longer than `kept_bytes` as it is written.
/// Nothing is checked: what is no JSON stays none.
[[nodiscard]] std::string shortened(std::string_view json, std::size_t kept_bytes);

}  // namespace walrelay::wal
