// What stands for a configured table in a statement on its rows. Pure.
//
// The one place that decides which rows those are: with all partitions, which PostgreSQL counts as
// parts of the table, and without tables that inherit from it, which are outboxes of their own
// (PostgreSQL documentation, "Inheritance").
#pragma once

#include "core/facts.hpp"
#include "core/outbox_table.hpp"

#include <cstdint>
#include <string>

namespace walrelay::postgres {

struct table_scope {
    table_name table = {};
    /// pg_class.relkind is `p`. It has to be read: of a partitioned table ONLY finds nothing.
    bool partitioned = false;
    /// pg_class.oid: that of the table which is meant, whatever has its name now. 0: it is not
    /// known, and whichever table has the name is meant.
    std::uint32_t oid = 0;
};

/// Without the oid: for readings, which change nothing.
[[nodiscard]] inline table_scope scope_of(const table_facts& facts) {
    return {facts.table, facts.partitioned};
}

/// For FROM, UPDATE and DELETE FROM; an alias may follow.
[[nodiscard]] std::string rows_sql(const table_scope& scope);

/// A condition that is true while the name is that of the table which is meant. PostgreSQL resolves
/// it while it parses the statement, as it does the name in FROM, whose lock keeps both from
/// changing until the statement ends.
[[nodiscard]] std::string is_meant_sql(const table_scope& scope);

}  // namespace walrelay::postgres
