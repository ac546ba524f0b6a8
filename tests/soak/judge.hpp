// Whether everything is in the stream once and in order, and how long each row waited for it.
#pragma once

#include "soak/diary.hpp"
#include "soak/restarts.hpp"
#include "soak/slot_watch.hpp"
#include "soak/steady_writers.hpp"
#include "soak/witness.hpp"
#include "support/comparison.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace walrelay::soak {

struct limits {
    /// No row may wait longer for what has nothing to do with it.
    std::chrono::milliseconds wait{2000};
    /// While rows come, the slot may not stand still for longer.
    std::chrono::milliseconds stand{5000};
};

struct row_wait {
    std::string key;
    outbox table = outbox::events;
    /// From COMMIT until the broker stored the message, by its own time stamp; of a row that is not
    /// in the stream until the end of the run.
    period when;
    /// Of that, what no restart excuses.
    std::chrono::microseconds unexcused{};
};

/// A time without a gap in which rows waited too long.
struct late_rows {
    period when;
    std::uint64_t rows = 0;
    row_wait worst;
};

struct evidence {
    committed_rows rows;
    expectation expected;
    std::vector<diary_entry> diary;
    std::vector<restart_record> restarts;
    std::vector<log_line> log;
    std::vector<period> stands;
    std::vector<session_sample> sessions;
    /// When nobody waited for rows any more.
    moment ended{};
};

struct findings {
    test::comparison compared;
    std::vector<row_wait> waits;
    std::vector<late_rows> late;
    /// Where the slot stood still for too long.
    std::vector<period> standing;
    /// Of all stands, without what is excused.
    std::chrono::microseconds longest_stand{};
    std::vector<period> excused;
};

/// Those of whose wait more than `limit` is not excused; what overlaps is one entry.
[[nodiscard]] std::vector<late_rows> find_late(std::vector<row_wait> waits,
                                               std::chrono::milliseconds limit);
/// Reads the whole stream.
[[nodiscard]] findings judge(chaos::arena& where, const evidence& all, const limits& bounds);

}  // namespace walrelay::soak
