// The part of the preflight that is about tables that hang on an outbox table: those that inherit
// from it, and partitions between which its rows move. Only for the preflight's .cpp files.
#pragma once

#include "core/facts.hpp"
#include "relay/preflight.hpp"

namespace walrelay::relay {

class findings_list;

void look_at_descendants(const expectations& wanted, const postgres_facts& facts,
                         findings_list& found);

}  // namespace walrelay::relay
