// Which rows of a transaction walrelay itself has changed: its updates are write-backs, also those
// that move a row to another partition. What a trigger of the outbox writes in the same transaction
// is an event like any other. Pure.
#pragma once

#include "core/change.hpp"
#include "outbox/table_mapper.hpp"
#include "relay/intake/control_row.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace walrelay::relay {

class own_rows {
public:
    /// `said` is a proved row of the kind `own`, and `table` the one that it names, by its place in
    /// the configuration; nothing where that is none. One that names no rows is of an earlier
    /// version, or too large to be read: all of the transaction is walrelay's.
    void mark(const control_row& said, std::optional<std::size_t> table);
    /// Whether anything was marked.
    [[nodiscard]] bool any() const { return all_ || !tables_.empty(); }
    /// `mapper` is that of the table. Where it maps another column as id than the relay that has
    /// marked the rows, each row of the table counts.
    [[nodiscard]] bool has(std::size_t table, outbox::table_mapper& mapper,
                           const row_insert& row) const;

private:
    struct rows_of_table {
        std::string id_column;
        std::set<std::string, std::less<>> ids;
    };

    bool all_ = false;
    std::map<std::size_t, rows_of_table> tables_;
};

}  // namespace walrelay::relay
