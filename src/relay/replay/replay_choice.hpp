// Which rows of the past a replay is of. Plain data, and pure.
#pragma once

#include "core/change.hpp"
#include "core/message.hpp"
#include "core/position.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::relay {

/// Transactions are read in the order of their commits; their commit times need not ascend.
struct replay_range {
    /// Rows at this position or after it.
    commit_position from = {};
    /// Transactions whose commit record begins there or later are not read.
    lsn until = {};
    /// The last row; nothing: all up to `until`.
    std::optional<commit_position> last = {};
    /// By commit time: those from `since` on, and before `before`.
    std::optional<wall_time> since = {};
    std::optional<wall_time> before = {};

    [[nodiscard]] bool holds(wall_time committed_at) const {
        return (!since || committed_at >= *since) && (!before || committed_at < *before);
    }
    [[nodiscard]] bool holds(const commit_position& where) const {
        return where >= from && where.commit < until && (!last || where <= *last);
    }
};

struct replay_choice {
    /// Of the configuration; empty: all.
    std::vector<std::size_t> tables = {};
    /// As of a NATS subscription; empty: all.
    std::string subject = {};
    /// `<type>/<id>` of each; empty: all.
    std::vector<std::string> aggregates = {};

    [[nodiscard]] bool takes_table(std::size_t table) const;
    /// Of a row that is mapped, with its aggregate (table_mapper::keep_aggregates).
    [[nodiscard]] bool takes(const message& content) const;
    /// Whether rows that cannot be mapped are left out, as nobody knows whether they are meant.
    [[nodiscard]] bool needs_mapping() const { return !subject.empty() || !aggregates.empty(); }
};

}  // namespace walrelay::relay
