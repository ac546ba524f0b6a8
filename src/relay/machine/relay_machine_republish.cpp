// The relay machine's events of rows that an UPDATE publishes again and that the WAL holds in part.

#include "relay/machine/relay_machine.hpp"

#include <utility>

namespace walrelay::relay {

void relay_machine::row_fetched(std::uint64_t epoch, std::optional<table_row> row, instant now) {
    if (epoch != postgres_.epoch() || !question_.is_of_row()) {
        return;
    }
    question_.close();
    auto read = intake_.complete(std::move(row), *lane_);
    if (!read) {
        frame_failed(read.error(), now);
        return;
    }
    take_frame(*read, now);
    watch_.reading_is_paused(is_reading_paused(), now);
}

void relay_machine::row_not_fetched(std::uint64_t epoch, const error& why, instant now) {
    if (epoch == postgres_.epoch() && question_.is_of_row()) {
        lose_postgres(why, now);
    }
}

}  // namespace walrelay::relay
