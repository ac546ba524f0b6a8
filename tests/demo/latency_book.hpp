// How long each event took from its COMMIT to the consumer.
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace walrelay::demo {

using duration = std::chrono::duration<double, std::milli>;

struct latencies {
    std::size_t count = 0;
    duration median{};
    duration slowest_of_a_hundred{};
    duration slowest{};
};

/// Written by the thread that commits and by the thread that consumes.
class latency_book {
public:
    /// To be called right before COMMIT is sent: what the book says is never too short.
    void about_to_commit(const std::vector<std::string>& ids);
    /// Nothing for an id that the book does not know.
    std::optional<duration> arrived(const std::string& id);
    [[nodiscard]] latencies result() const;

private:
    using clock = std::chrono::steady_clock;

    mutable std::mutex mutex_;
    std::unordered_map<std::string, clock::time_point> committing_;
    std::vector<duration> measured_;
};

}  // namespace walrelay::demo
