// Lines that come again and again become one line from time to time: "again, 14 times in 30 s". Not
// a line of another kind is held up or left out. Pure: no clock, no output.
//
// Two lines are of one kind where event, words and textual fields are the same; numbers in them may
// differ. The first one of a kind is written at once. A line that is no warning and no error (all
// is well again, or something has begun) ends the counting: what was only counted is written before
// it, and the same trouble is news again. Where trouble and its end follow each other again and
// again, both are written some times, then counted.
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
    /// How often a line is written although it comes again, as others came between.
    static constexpr unsigned news_max = 3;

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
        /// When it began to be counted, and when it came last.
        monotonic_time since;
        monotonic_time at;
        std::uint64_t times = 0;
        unsigned written = 1;
        /// All was well since.
        bool is_over = false;

        [[nodiscard]] bool is_pair() const { return written >= news_max; }
    };

    static void append(std::vector<log_entry>& lines, const kind& of, monotonic_time now);
    /// Whether this line, of a kind that is known, is to be counted alone.
    [[nodiscard]] static bool is_counted(const kind& known, bool is_trouble);
    void write_counted(std::vector<log_entry>& lines, monotonic_time now,
                       bool (*which)(const kind&, monotonic_time));

    /// The oldest one first.
    std::deque<kind> kinds_;
};

}  // namespace walrelay
