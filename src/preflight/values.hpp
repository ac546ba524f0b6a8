// The part of the preflight that is about values: what is NULL, what the role may read, what no
// index finds. Only for the preflight's own files.
#pragma once

#include "core/facts.hpp"
#include "core/finding.hpp"
#include "core/outbox_table.hpp"

namespace walrelay::preflight {

/// Columns of the subject of which a NULL makes a dead letter.
void look_at_nulls(const outbox_table& wanted, const table_facts& facts, const postgres_facts& all,
                   findings_list& found);

/// What `verify`, the startup check and healing read.
void look_at_comparing(const outbox_table& wanted, const table_facts& facts,
                       const postgres_facts& all, findings_list& found);

/// The id by which rows are written back, deleted or read again.
void look_at_index(const outbox_table& wanted, const table_facts& facts, findings_list& found);

/// A value of outbox.republish that the column's type never prints.
void look_at_republished_value(const outbox_table& wanted, const table_facts& facts,
                               const postgres_facts& all, findings_list& found);

}  // namespace walrelay::preflight
