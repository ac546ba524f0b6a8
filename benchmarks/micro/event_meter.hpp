// What one event costs, as counters of a benchmark: processor time (in seconds), allocations,
// allocated bytes. Allocations count between begin() and end(), the time as always in a benchmark.
#pragma once

#include "hot_path/allocations.hpp"

#include <benchmark/benchmark.h>

#include <cstddef>

namespace walrelay::bench {

class event_meter {
public:
    /// Writes the counters into the state when it goes.
    explicit event_meter(benchmark::State& state) : state_(state) {}
    event_meter(const event_meter&) = delete;
    event_meter& operator=(const event_meter&) = delete;
    ~event_meter();

    void begin() { before_ = test::allocated_so_far(); }
    void end(std::size_t events) {
        const auto taken = test::allocated_so_far() - before_;
        taken_.count += taken.count;
        taken_.bytes += taken.bytes;
        events_ += events;
    }

private:
    benchmark::State& state_;
    test::allocations before_;
    test::allocations taken_;
    std::size_t events_ = 0;
};

}  // namespace walrelay::bench
