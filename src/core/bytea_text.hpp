// The text of a bytea: everywhere in walrelay its hex digits alone. PostgreSQL puts `\x` before
// them (bytea_output = hex), wal2json leaves it out of a bytea, and of a domain over bytea neither
// does: a decoder does not know what a domain stands for.
#pragma once

#include <string_view>

namespace walrelay {

inline constexpr std::string_view bytea_mark = "\\x";

/// The digits of a bytea's text, with the mark or without: digits never begin like it.
[[nodiscard]] constexpr std::string_view digits_of_bytea(std::string_view text) {
    return text.starts_with(bytea_mark) ? text.substr(bytea_mark.size()) : text;
}

}  // namespace walrelay
