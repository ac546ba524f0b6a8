// What was going on, and when. Written by all threads of a soak, read by its judge.
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

namespace walrelay::soak {

/// The clock of PostgreSQL, nats-server and the relay's log as well: all run on this machine.
using clock = std::chrono::system_clock;
using moment = clock::time_point;

struct period {
    moment begin;
    moment end;
};

struct diary_entry {
    /// Of the disturbance.
    std::string kind;
    period when{};
};

class diary {
public:
    /// From now until it is destroyed, or ended.
    class happening {
    public:
        happening(diary& owner, const std::string& kind);
        ~happening() { end(); }
        happening(const happening&) = delete;
        happening& operator=(const happening&) = delete;
        void end();

    private:
        diary& owner_;
        std::size_t index_;
        bool ended_ = false;
    };

    /// What has not ended yet lasts until now.
    [[nodiscard]] std::vector<diary_entry> entries() const;

private:
    [[nodiscard]] std::size_t begin(const std::string& kind);
    void end(std::size_t index);

    mutable std::mutex mutex_;
    std::vector<diary_entry> entries_;
};

/// How much of `wait` lies outside of `excused`, which must be sorted and not overlap.
[[nodiscard]] std::chrono::microseconds outside(const period& wait,
                                                const std::vector<period>& excused);
/// Sorted, and those that meet made one.
[[nodiscard]] std::vector<period> merged(std::vector<period> periods);
[[nodiscard]] inline bool overlap(const period& one, const period& other) {
    return one.begin <= other.end && other.begin <= one.end;
}

/// "17:04:31.250", UTC.
[[nodiscard]] std::string time_of_day(moment when);

}  // namespace walrelay::soak
