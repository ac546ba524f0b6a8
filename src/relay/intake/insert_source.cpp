#include "relay/intake/insert_source.hpp"

namespace walrelay::relay {
namespace {

error of_another_table(const relation& table) {
    return {errc::row_unmappable,
            "the row is of a table (oid " + std::to_string(table.oid) + ") that had the name " +
                table.schema + "." + table.name +
                " when it was written and is not the one that is relayed: a dropped one, or one "
                "that another role has made under this name",
            "if you know the row as one of the outbox: walrelay dead-letter retry; see who may "
            "create tables in the schema, and publish a list of tables in place of all"};
}

}  // namespace

result<void> insert_source::take(const row_insert& row, const reading& now) {
    const auto owner = tables_.whose(*row.table, now);
    if (!owner) {
        return owner.error();
    }
    if (owner->what == table_catalog::answer::kind::control) {
        return control_.take(row, now);
    }
    if (owner->what == table_catalog::answer::kind::unproved) {
        const table_name name{row.table->schema, row.table->name};
        return events_.set_stranger_aside(name, row, of_another_table(*row.table), now);
    }
    if (owner->what != table_catalog::answer::kind::outbox) {
        return {};
    }
    if (now.in.own.any() && can_be_moved(owner->index) &&
        now.in.own.has(owner->index, events_.mappers()[owner->index], row)) {
        return {};
    }
    return events_.place(now, {owner->index, row});
}

/// An UPDATE that moves a row to another partition is a DELETE and an INSERT in the WAL. Asked only
/// for transactions that carry walrelay's mark; a table that no write-back can move is no part of
/// it.
bool insert_source::can_be_moved(std::size_t table) const {
    return table < options_.duties.size() && options_.duties[table].updates_rows &&
           tables_.catalog().is_partitioned(table);
}

}  // namespace walrelay::relay
