// What it means that facts have changed on which a relay's decisions rest: rows pass without being
// relayed, the catalog has to be read again, or nothing but a line of the log. Pure.
#pragma once

#include "core/error.hpp"
#include "core/facts.hpp"
#include "core/outbox_table.hpp"
#include "core/watched_facts.hpp"

#include <optional>
#include <string>
#include <vector>

namespace walrelay::relay {

struct watched_names {
    output_plugin plugin = output_plugin::pgoutput;
    std::string publication = {};
    std::string slot = {};
    /// Of watched_facts::tables, in that order.
    std::vector<table_name> tables = {};
    /// The operations that the publication has to publish.
    bool needs_updates = false;
};

struct watched_change {
    /// With gap_found or postgres_unsuitable the relay must halt; with table_unknown it connects
    /// again and reads the catalog.
    std::optional<error> consequence = {};
    /// For the log: what has changed and does no harm to what is relayed now.
    std::vector<std::string> remarks = {};
};

/// `before` is what the relay knows, `now` was asked for with it.
[[nodiscard]] watched_change judge_change(const watched_names& names, const watched_facts& before,
                                          const watched_facts& now);

/// PostgreSQL 18 and newer leave out what was written while the publication was not there, and only
/// warn of it; the slot still has those rows.
[[nodiscard]] error publication_was_skipped(const watched_names& names);

}  // namespace walrelay::relay
