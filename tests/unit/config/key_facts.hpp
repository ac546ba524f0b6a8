// What docs/configuration.md says of a key in its first line: made from the table of keys and the
// defaults, so that the document cannot drift.
#pragma once

#include "config/keys.hpp"

#include <string>

namespace walrelay::config {

/// The kind, the default, the variable and the flag of a key, in Markdown.
inline std::string facts_of(const key& row) {
    settings defaults;
    outbox_table table;
    const std::string shown = row.show({defaults, table});
    std::string accepted;
    for (const std::string& text : row.accepted) {
        accepted += (accepted.empty() ? "`" : ", `") + text + '`';
    }
    std::string facts{to_string(row.kind)};
    if (row.kind == value_kind::choice) {
        facts += " of " + accepted;
    }
    facts += shown.empty() ? ", no default" : ", default `" + shown + '`';
    facts += "; `" + row.variable() + '`';
    return row.about.flag.empty() ? facts : facts + ", `" + std::string(row.about.flag) + '`';
}

}  // namespace walrelay::config
