// The relay machine's events of tables that nobody has met yet: PostgreSQL is asked what they are,
// while nothing more is read.

#include "relay/machine/relay_machine.hpp"

namespace walrelay::relay {

void relay_machine::table_looked_at(std::uint64_t epoch, const result<table_sight>& seen,
                                    instant now) {
    if (epoch != postgres_.epoch() || !question_.is_of_table() || !life_.is_running()) {
        return;
    }
    question_.close();
    if (!seen) {
        lose_postgres(seen.error(), now);
        return;
    }
    if (seen->descends_from_outbox || !seen->outboxes_exist) {
        // What else is new must be read and judged, too.
        lose_postgres(intake_.reread_for(intake_.unknown_table()), now);
        return;
    }
    if (!seen->exists) {
        tell_of_vanished(intake_.unknown_table());
    }
    const auto newest = lane_->admitted();
    auto read = intake_.settle_unknown(seen->exists, *lane_);
    if (!read) {
        frame_failed(read.error(), now);
        return;
    }
    frame_was_read(*read, newest, now);
    watch_.reading_is_paused(is_reading_paused(), now);
}

/// Without the columns that an outbox needs it was hardly a partition of one.
void relay_machine::tell_of_vanished(const table_name& table) {
    constexpr std::size_t told = 10;
    const auto count = watch_.table_vanished();
    if (count > told) {
        return;
    }
    log<"table_vanished">(
        "rows of table " + to_string(table) +
            " are not relayed: it is gone, and it did not have the columns of an outbox" +
            (count == told ? "; no further table is named for that" : ""),
        with<"table">(table));
}

}  // namespace walrelay::relay
