// The part of the preflight that is about tables that hang on an outbox table: those that inherit
// from it, and partitions between which its rows move. Only for the preflight's .cpp files.
#pragma once

#include "core/facts.hpp"
#include "core/finding.hpp"
#include "preflight/preflight.hpp"

namespace walrelay::preflight {

void look_at_descendants(const expectations& wanted, const postgres_facts& facts,
                         findings_list& found);

}  // namespace walrelay::preflight
