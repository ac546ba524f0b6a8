// Events that are rows of a snapshot: they were there before the slot. They count as one
// transaction, and all stand at one LSN (core/position's before_slot). Pure.
#pragma once

#include "relay/intake/event_placer.hpp"

namespace walrelay::relay {

class snapshot_source {
public:
    /// `events` must outlive this.
    explicit snapshot_source(event_placer& events) : events_(events) {}

    [[nodiscard]] static open_transaction begin(lsn consistent_point, wall_time taken_at) {
        return {{before_slot(consistent_point), taken_at, {}}};
    }
    result<void> take(std::size_t table, const row_insert& row, const reading& now) {
        now.in.stand_at(now.in.begin.commit);
        return events_.place(now, {table, events_.with_size(row)});
    }
    /// The stream has it.
    void take_published(std::size_t table, const row_insert& row, const reading& now) {
        now.in.stand_at(now.in.begin.commit);
        events_.place_published(now, {table, row});
    }

private:
    event_placer& events_;
};

}  // namespace walrelay::relay
