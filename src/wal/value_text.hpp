// The one type whose text the two plugins write differently, made the same.
#pragma once

#include "core/change.hpp"

#include <string_view>

namespace walrelay::wal {

/// PostgreSQL, src/include/catalog/pg_type.dat.
inline constexpr type_oid bytea_oid = 17;

/// Takes the `\x` off a bytea in hex form (bytea_output = hex); false if it is not there. wal2json
/// leaves it out by itself.
[[nodiscard]] inline bool strip_bytea_prefix(std::string_view& text) {
    constexpr std::string_view prefix = "\\x";
    if (!text.starts_with(prefix)) {
        return false;
    }
    text.remove_prefix(prefix.size());
    return true;
}

}  // namespace walrelay::wal
