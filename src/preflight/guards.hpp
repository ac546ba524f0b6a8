// The part of the preflight that is about what other roles can do to the outbox tables, or hide
// from walrelay. Only for the preflight's .cpp files.
#pragma once

#include "core/facts.hpp"
#include "core/finding.hpp"
#include "core/outbox_table.hpp"
#include "preflight/preflight.hpp"

namespace walrelay::preflight {

/// For a table that exists, one of `all`.
void look_at_guards(const outbox_table& wanted, const table_facts& facts, const postgres_facts& all,
                    findings_list& found);

/// For the role of postgres.writer, where there is one.
void look_at_writer(const expectations& wanted, const postgres_facts& all, findings_list& found);

/// For an outbox of logical messages.
void look_at_message_writers(const outbox_table& wanted, const postgres_facts& all,
                             findings_list& found);

}  // namespace walrelay::preflight
