// The part of the preflight that is about tables that hang on an outbox table: those that inherit
// from it, and partitions between which its rows move. Only for the preflight's .cpp files.
#pragma once

#include "core/facts.hpp"
#include "relay/preflight.hpp"

#include <string>

namespace walrelay::relay {

class findings_list;

void look_at_descendants(const expectations& wanted, const postgres_facts& facts,
                         findings_list& found);

/// Whether the SQL has the column's name as a word of its own, outside of quoted text.
[[nodiscard]] bool mentions_column(const std::string& sql, const std::string& name);

}  // namespace walrelay::relay
