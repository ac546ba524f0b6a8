// Warnings and errors that come again and again become one line from time to time: "again, 14 times
// in 30 s". Not a line of another kind is held up or left out. Pure: no clock, no output.
//
// Two lines are of one kind where event, words and textual fields are the same; numbers in them may
// differ. The first one of a kind is written at once. A line that is neither (all is well again, or
// something has begun) ends all of this: what was only counted is written before it.
#pragma once

#include "core/instant.hpp"
#include "core/log_entry.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace walrelay {

class log_fold {
public:
    static constexpr std::chrono::seconds window{30};
    /// Of kinds that are remembered at a time; the oldest one gives way.
    static constexpr std::size_t kinds_max = 16;

    /// What is to be written now, in this order, as this line comes.
    [[nodiscard]] std::vector<log_entry> take(log_entry line, monotonic_time now);
    /// What has been counted for long enough.
    [[nodiscard]] std::vector<log_entry> due(monotonic_time now);
    /// Everything that was only counted.
    [[nodiscard]] std::vector<log_entry> end(monotonic_time now);

private:
    struct kind {
        std::string words;
        log_entry last;
        monotonic_time since;
        std::uint64_t times = 0;
    };

    static void append(std::vector<log_entry>& lines, const kind& of, monotonic_time now);

    /// The oldest one first.
    std::deque<kind> kinds_;
};

}  // namespace walrelay
