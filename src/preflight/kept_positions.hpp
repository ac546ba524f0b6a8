// The part of the startup check that is about the positions that are kept for a replay. Only for
// commands that look on purpose: a relay goes on without them.
#pragma once

#include "core/byte_size.hpp"
#include "core/facts.hpp"
#include "core/finding.hpp"
#include "core/kept_position.hpp"

#include <string>
#include <vector>

namespace walrelay::preflight {

/// What the role finds of walrelay.bookmark and walrelay.trail.
struct kept_tables {
    own_table_facts bookmarks = {};
    own_table_facts trails = {};
    bool may_make = false;
    std::string role = {};
};

struct kept_expectations {
    /// replay.keep is set.
    bool keeps_trail = false;
    /// replay.max_wal.
    byte_size max_wal = {};
    managed_service service = managed_service::none;
};

[[nodiscard]] std::vector<finding> kept_position_findings(const kept_expectations& wanted,
                                                          const kept_positions& kept,
                                                          const kept_tables& tables);

}  // namespace walrelay::preflight
