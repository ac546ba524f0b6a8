// Which rows of a transaction walrelay itself has changed: its updates are write-backs, also those
// that move a row to another partition. What a trigger of the outbox writes in the same transaction
// is an event like any other. Pure.
#pragma once

#include "core/change.hpp"
#include "relay/intake/control_row.hpp"

#include <functional>
#include <set>
#include <string>

namespace walrelay::relay {

class own_rows {
public:
    /// `said` is a proved row of the kind `own`. One that names no rows is of an earlier version,
    /// or too large to be read: all of the transaction is walrelay's.
    void mark(const control_row& said);
    /// Whether anything was marked.
    [[nodiscard]] bool any() const { return all_ || !ids_.empty(); }
    /// `id` of the row as table_mapper::id_of gives it.
    [[nodiscard]] bool has(const field& id) const;

private:
    bool all_ = false;
    std::set<std::string, std::less<>> ids_;
};

}  // namespace walrelay::relay
