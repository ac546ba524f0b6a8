// How long something took, counted by ranges. Plain data: adding to it takes no memory and no
// clock.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace walrelay {

class latency_histogram {
public:
    /// The upper ends of the ranges, in microseconds; one more range has no end. Dense where a
    /// relay lives.
    static constexpr std::array<std::int64_t, 22> bounds_microseconds{
        50,        100,       200,       300,        500,        750,       1'000,   2'000,
        3'000,     5'000,     10'000,    20'000,     50'000,     100'000,   250'000, 500'000,
        1'000'000, 2'500'000, 5'000'000, 10'000'000, 30'000'000, 60'000'000};
    static constexpr std::size_t range_count = bounds_microseconds.size() + 1;
    using ranges = std::array<std::uint64_t, range_count>;

    /// What two clocks make negative counts as nothing.
    void add(std::chrono::microseconds took) {
        ++counts_[range_of(took)];
        sum_microseconds_ += static_cast<std::uint64_t>(took.count() < 0 ? 0 : took.count());
    }

    [[nodiscard]] static std::size_t range_of(std::chrono::microseconds took) {
        std::size_t range = 0;
        while (range < bounds_microseconds.size() && took.count() > bounds_microseconds[range]) {
            ++range;
        }
        return range;
    }

    /// How many are in each range alone.
    [[nodiscard]] const ranges& counts() const { return counts_; }
    [[nodiscard]] std::uint64_t sum_microseconds() const { return sum_microseconds_; }
    [[nodiscard]] std::uint64_t count() const {
        std::uint64_t all = 0;
        for (const auto each : counts_) {
            all += each;
        }
        return all;
    }

private:
    ranges counts_{};
    std::uint64_t sum_microseconds_ = 0;
};

/// The time that `share` (0.5, 0.99) of what was added between the two did not exceed, taken as
/// evenly spread within its range; the last range counts as its lower end. Nothing where nothing
/// was added.
[[nodiscard]] std::optional<std::chrono::microseconds> quantile(
    const latency_histogram::ranges& before, const latency_histogram::ranges& after, double share);

}  // namespace walrelay
