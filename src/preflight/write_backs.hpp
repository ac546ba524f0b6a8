// The part of the preflight that is about write-backs and republishing. Only for the preflight's
// .cpp files.
#pragma once

#include "core/facts.hpp"
#include "core/finding.hpp"
#include "core/outbox_table.hpp"

#include <vector>

namespace walrelay::preflight {

/// For a table that exists, one of `all`.
void look_at_write_backs(const outbox_table& wanted, const table_facts& facts,
                         const postgres_facts& all, findings_list& found);

/// Of all tables, which are in the order of the facts.
void look_at_republish(const std::vector<outbox_table>& wanted, const postgres_facts& facts,
                       output_plugin plugin, findings_list& found);

}  // namespace walrelay::preflight
