// The frames that a walsender makes of a transaction, with either output plugin, and keepalives.
#pragma once

#include "core/facts.hpp"
#include "sim/database.hpp"

#include <set>
#include <string>
#include <vector>

namespace walrelay::sim {

/// What of a session a plugin remembers: pgoutput describes a table once.
struct plugin_session {
    output_plugin plugin = output_plugin::pgoutput;
    bool sends_empty_transactions = true;
    std::set<table> described = {};
};

/// Each the whole of one CopyData message.
[[nodiscard]] std::vector<std::string> frames_of(const transaction& committed,
                                                 plugin_session& session);
[[nodiscard]] std::string keepalive_of(lsn sent, bool reply_requested);

/// The positions that a status update reports.
struct reported {
    lsn written;
    lsn flushed;
    bool reply_requested = false;
};
[[nodiscard]] reported read_status(const std::string& update);

}  // namespace walrelay::sim
