// The part of the preflight that is about columns which the table has and its rows come without.
// Only for the preflight's .cpp files.
#pragma once

#include "core/facts.hpp"
#include "core/finding.hpp"
#include "core/outbox_table.hpp"
#include "preflight/preflight.hpp"

#include <vector>

namespace walrelay::preflight {

/// The columns that `plugin` sends of the table's rows.
[[nodiscard]] std::vector<column> sent_columns(const table_facts& table, const postgres_facts& all,
                                               output_plugin plugin);

/// For a table that exists, one of `all`: what lacks of its messages because of the others.
void look_at_columns(const expectations& wanted, const outbox_table& outbox,
                     const table_facts& table, const postgres_facts& all, findings_list& found);

}  // namespace walrelay::preflight
