// Says on standard error how far a replay has come: one line that is written anew on a terminal,
// elsewhere a line now and then.
#pragma once

#include "tasks/replay/replay_work.hpp"

#include <chrono>
#include <cstdint>

namespace walrelay::tasks {

class replay_progress_line {
public:
    replay_progress_line();

    /// Cheap: to be called for every batch.
    void show(const replay_progress& now);
    /// Leaves the terminal's line.
    void end();
    /// Those of the last `show`.
    [[nodiscard]] std::uint64_t rows() const { return last_.rows; }

private:
    using clock = std::chrono::steady_clock;

    bool on_terminal_;
    bool has_line_ = false;
    replay_progress last_;
    std::uint64_t rows_at_start_ = 0;
    bool began_ = false;
    clock::time_point began_at_;
    clock::time_point shown_at_;
};

}  // namespace walrelay::tasks
