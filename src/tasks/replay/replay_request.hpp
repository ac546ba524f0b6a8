// What `walrelay replay` is asked for. Plain data.
#pragma once

#include "core/outbox_table.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace walrelay::tasks {

enum class replay_action { replay, list, show, resume, cancel };

struct replay_request {
    replay_action action = replay_action::replay;
    /// Of show, resume and cancel.
    std::int64_t number = 0;
    /// `bookmark:NAME`, a time, an LSN, or a position.
    std::string from = {};
    std::string until = {};
    std::vector<table_name> tables = {};
    /// As of a NATS subscription.
    std::string subject = {};
    /// With `{subject}` in it: where the messages go.
    std::string to_subject = {};
    /// In place of all that: where the slot is put back to, `bookmark:NAME` or `trail`.
    std::string rewind = {};
    /// Another stream that they go into; empty: through the relay into its own.
    std::string to_stream = {};
    /// `<type>/<id>` of each.
    std::vector<std::string> aggregates = {};
    /// In place of --from: an SQL condition, or ids of rows, of the one table; its rows as they are
    /// now.
    std::string rows = {};
    std::vector<std::string> ids = {};
    std::string ids_file = {};  // "-" is standard input
    bool execute = false;
    bool json = false;
    /// More rows are refused.
    std::uint64_t limit_rows = 1'000'000;

    [[nodiscard]] bool reads_table() const {
        return !rows.empty() || !ids.empty() || !ids_file.empty();
    }
};

}  // namespace walrelay::tasks
