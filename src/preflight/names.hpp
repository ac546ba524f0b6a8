// Whether the names of the outboxes prove which tables they are. Pure.
#pragma once

#include "core/facts.hpp"
#include "core/finding.hpp"
#include "preflight/preflight.hpp"

namespace walrelay::preflight {

/// wal2json tells a table by its name alone, pgoutput by its oid: where others can take a name that
/// an outbox or a partition has left, wal2json is refused.
void look_at_names(const expectations& wanted, const postgres_facts& facts, output_plugin plugin,
                   findings_list& found);

}  // namespace walrelay::preflight
