// What docs/configuration.md says of a key in its first line: made from the table of keys and the
// defaults, so that the document cannot drift.
#pragma once

#include "config/keys.hpp"

#include <string>

namespace walrelay::config {

/// The kind, the default, the variable and the flag of a key, in Markdown.
inline std::string facts_of(const key& row) {
    const std::string shown = row.default_value();
    std::string facts = row.kind_in_words();
    facts += shown.empty() ? ", no default" : ", default `" + shown + '`';
    facts += "; `" + row.variable() + '`';
    return row.flag.empty() ? facts : facts + ", `" + std::string(row.flag) + '`';
}

}  // namespace walrelay::config
