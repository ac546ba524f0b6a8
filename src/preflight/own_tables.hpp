// The part of the preflight that is about walrelay's own tables and the schemas in which names are
// found. Only for the preflight's .cpp files.
#pragma once

#include "core/facts.hpp"
#include "core/finding.hpp"
#include "preflight/preflight.hpp"

namespace walrelay::preflight {

/// Whether walrelay's updates of a table must be told from others for a relay to be right: they can
/// be what publishes a row again, or move it to another partition.
[[nodiscard]] bool needs_control_table(const expectations& wanted, const postgres_facts& facts);

void look_at_own_tables(const expectations& wanted, const postgres_facts& facts,
                        output_plugin plugin, findings_list& found);

}  // namespace walrelay::preflight
