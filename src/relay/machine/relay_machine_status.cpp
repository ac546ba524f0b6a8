// How the relay machine is, for those who watch it. Changes nothing.

#include "relay/machine/relay_machine.hpp"

#include <algorithm>
#include <chrono>

namespace walrelay::relay {
namespace {

/// A relay that is further behind has something to catch up with.
constexpr std::chrono::seconds far_behind{10};

void explain(relay_status& status, const std::optional<error>& why) {
    // The words of a server stay in the log: they may quote a row.
    if (why) {
        status.reason = why->what;
        status.fix = why->remedy;
    }
}

}  // namespace

relay_counts relay_machine::counts() const {
    auto counts = watch_.counts_with(lane_->stored_count());
    counts.skipped_already_stored += intake_.already_stored();
    for (std::size_t table = 0; table < counts.tables.size(); ++table) {
        const auto& received = intake_.received()[table];
        counts.tables[table].rows_received += received.rows;
        counts.tables[table].last_row = std::max(counts.tables[table].last_row, received.last);
    }
    return counts;
}

relay_state relay_machine::state_at(std::optional<std::chrono::microseconds> lag,
                                    instant now) const {
    if (life_.halted_for()) {
        return relay_state::halted;
    }
    if (!life_.is_running()) {
        return relay_state::draining;
    }
    if (!broker_.is_up()) {
        const bool lacks_postgres = watch_.postgres_trouble() && !postgres_.is_up();
        return watch_.broker_trouble() ? relay_state::waiting_broker
               : lacks_postgres        ? relay_state::waiting_postgres
                                       : relay_state::starting;
    }
    if (!postgres_.is_up()) {
        return watch_.postgres_trouble() ? relay_state::waiting_postgres
               : is_standby()            ? relay_state::standby
                                         : relay_state::starting;
    }
    if (broker_.is_in_trouble() && lane_->waiting_since()) {
        // It takes connections; whether it takes messages is what the oldest one waits to see. A
        // full stream would look well again and again, for as long as the answer takes.
        return relay_state::waiting_broker;
    }
    if (backfilling_.is_open()) {
        return relay_state::snapshot;
    }
    const bool is_far_behind = lag && *lag > far_behind;
    const bool stands = stands_still(now) && lane_->empty();
    return is_far_behind || stands || !watch_.has_caught_up() ? relay_state::catching_up
                                                              : relay_state::streaming;
}

std::optional<std::chrono::microseconds> relay_machine::lag_at(instant now) const {
    constexpr std::chrono::microseconds none{0};
    if (life_.halted_for() || is_standby()) {
        return std::nullopt;
    }
    if (const auto* const oldest = lane_->oldest()) {
        // When a row was committed is not known of all that are settled without the stream.
        return oldest->committed_at == wall_time{}
                   ? std::nullopt
                   : std::optional(std::max(none, now.wall - oldest->committed_at));
    }
    // What the slot has and nobody has read yet can be of any age.
    const bool reads = postgres_.is_up() && !stands_still(now);
    if (!reads || !watch_.has_caught_up()) {
        return std::nullopt;
    }
    // A connection over which nothing comes looks like a database in which nothing happens: rows
    // that were seen in the tables and did not come tell the two apart.
    const auto awaited = startup_check_.oldest_awaited();
    return awaited ? std::max(none, now.wall - *awaited) : none;
}

relay_status relay_machine::status(instant now) const {
    using std::chrono::duration_cast;
    using std::chrono::microseconds;
    constexpr microseconds none{0};
    relay_status status;
    status.lag = lag_at(now);
    if (const auto since = lane_->waiting_since()) {
        status.oldest_unacked = std::max(none, duration_cast<microseconds>(now.monotonic - *since));
    }
    status.state = state_at(status.lag, now);
    if (status.state == relay_state::waiting_broker) {
        explain(status, watch_.broker_trouble());
    } else if (status.state == relay_state::waiting_postgres) {
        explain(status, watch_.postgres_trouble());
    } else if (status.state == relay_state::halted) {
        explain(status, life_.halted_for());
    }
    status.is_leader = postgres_.is_up() && !life_.halted_for();
    status.postgres_connected = postgres_.is_up();
    status.broker_connected = broker_.is_up();
    status.window_messages = lane_->size();
    status.window_bytes = lane_->size_bytes();
    status.window_limit_messages = options_.lane.window_messages;
    status.window_limit_bytes = options_.lane.window_bytes;
    status.reading_paused = is_reading_paused();
    status.write_back_pending = write_backs_.rows().size();
    if (knows_slot()) {
        status.confirmed = confirmed();
    }
    status.slowest = watch_.slowest(now.monotonic);
    return status;
}

}  // namespace walrelay::relay
