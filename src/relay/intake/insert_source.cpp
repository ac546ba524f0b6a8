#include "relay/intake/insert_source.hpp"

namespace walrelay::relay {

result<void> insert_source::take(const row_insert& row, const reading& now) {
    const auto owner = tables_.whose(*row.table, now);
    if (!owner) {
        return owner.error();
    }
    if (owner->what == table_catalog::answer::kind::control) {
        return control_.take(row, now);
    }
    if (owner->what != table_catalog::answer::kind::outbox ||
        (now.in.own && is_moved_by_us(owner->index))) {
        return {};
    }
    return events_.place(now, {owner->index, row});
}

/// An UPDATE that moves a row to another partition is a DELETE and an INSERT in the WAL. Asked only
/// for transactions that carry walrelay's mark; a table that no write-back can move is no part of
/// it.
bool insert_source::is_moved_by_us(std::size_t table) const {
    return table < options_.duties.size() && options_.duties[table].updates_rows &&
           tables_.catalog().is_partitioned(table);
}

}  // namespace walrelay::relay
