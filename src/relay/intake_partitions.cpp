// The intake's doubts about tables that may have been partitions: wal2json names only the leaf.

#include "core/sql_text.hpp"
#include "relay/intake.hpp"

#include <algorithm>

namespace walrelay::relay {
namespace {

/// Both ways on are open to the operator alone, who knows what the table was.
error doubtful_partition(const table_name& table, const table_name& root, const std::string& slot) {
    const auto note = [&](const char* gone_at) {
        return "INSERT INTO walrelay.partition (slot, root_schema, root_table, leaf_schema, "
               "leaf_table, gone_at) VALUES (" +
               quote_literal(slot) + ", " + quote_literal(root.schema) + ", " +
               quote_literal(root.name) + ", " + quote_literal(table.schema) + ", " +
               quote_literal(table.name) + ", " + gone_at + ");";
    };
    return {errc::postgres_unsuitable,
            "rows of table " + to_string(table) + " arrived, which is no partition of " +
                to_string(root) +
                " now but has its columns: wal2json names only the partition, so they may be rows "
                "of one that was detached or dropped before they were read. The slot still has "
                "them",
            "if it was a partition when they were written, this relays them: " +
                note("pg_current_wal_insert_lsn()") + " if it never was one: " + note("'0/0'") +
                " then start again. pgoutput needs none of this (docs/operating.md)"};
}

}  // namespace

result<void> intake::check_past(const table_catalog::answer& found, const relation& table) const {
    using past = table_catalog::answer::past;
    if (plugin_ != output_plugin::wal2json || found.before == past::known) {
        return {};
    }
    const auto has = [&table](const column& each) {
        return std::ranges::find(table.columns, each.name, &column::name) != table.columns.end();
    };
    for (std::size_t index = 0; index < catalog_.table_count(); ++index) {
        if (!catalog_.is_partitioned(index)) {
            continue;
        }
        // Of one that is not there any more nobody knows how the outbox was altered since.
        const auto& columns = catalog_.columns_of(index);
        const bool resembles =
            found.before == past::vanished
                ? mappers_[index].problems_with(table.columns).empty()
                : table.columns.size() == columns.size() && std::ranges::all_of(columns, has);
        if (resembles) {
            return doubtful_partition({table.schema, table.name}, mappers_[index].table(),
                                      options_.slot);
        }
    }
    return {};
}

}  // namespace walrelay::relay
