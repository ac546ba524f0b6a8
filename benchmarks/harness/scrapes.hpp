// What it costs a drain that somebody watches: the same backlog without and with 500 requests a
// second for /metrics, in turn.
#pragma once

#include "harness/bed.hpp"
#include "harness/results.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace walrelay::bench {

struct scrapes_options {
    std::vector<std::string> plugins;
    std::uint64_t rows = 1'000'000;
    std::uint64_t scrapes_per_second = 500;
    int repetitions = 5;
};

void measure_scrapes(const scrapes_options& how, const programs& with, results& into);

}  // namespace walrelay::bench
