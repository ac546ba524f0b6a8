// What a replay takes: rows that are replayed into another stream beside the same rows drained, in
// turn, and how long live rows take while others are replayed into their stream.
#pragma once

#include "harness/bed.hpp"
#include "harness/results.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace walrelay::bench {

struct replay_options {
    std::vector<std::string> plugins;
    std::uint64_t rows = 1'000'000;
    /// Of the live rows.
    std::uint64_t rows_per_second = 1000;
    std::uint64_t seconds = 10;
    int repetitions = 5;
};

void measure_replay(const replay_options& how, const programs& with, results& into);

}  // namespace walrelay::bench
