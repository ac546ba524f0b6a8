// The transaction that is being read, and where in it the change stands that is read now. Pure.
#pragma once

#include "core/change.hpp"
#include "core/position.hpp"
#include "relay/intake/frame_read.hpp"
#include "relay/intake/own_rows.hpp"

#include <optional>

namespace walrelay::relay {

class lane;

/// Also the rows of a snapshot, which count as one.
struct open_transaction {
    transaction_begin begin;
    /// Of the change that is being read; nothing before the first.
    std::optional<commit_position> at = {};
    std::optional<commit_position> last_event = {};
    std::optional<commit_position> last_published = {};
    own_rows own = {};

    /// The next change of the transaction is of the WAL record that begins at `row`.
    void stand_at(lsn row) {
        const auto index = at && at->row == row ? at->index + 1 : 0;
        at = commit_position{begin.commit, row, index};
    }
    /// The change that is being read is an event: its position.
    commit_position place() {
        last_event = at;
        return *at;
    }
    /// It ends at `end`.
    [[nodiscard]] frame_read::transaction_end ended_at(lsn end) const {
        return {last_event, last_published, end};
    }
};

/// One change on its way: the transaction that it is of, the lane that takes its message, and what
/// is told of it. Lives as long as the frame is read.
struct reading {
    open_transaction& in;
    lane& into;
    frame_read& done;
};

}  // namespace walrelay::relay
