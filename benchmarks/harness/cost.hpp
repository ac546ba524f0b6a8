// What a relay costs the database: statements that it sends while nothing happens and while rows
// come at a steady rate, and what is left to writers that insert as fast as they can.
//
// Statements are those that pg_stat_statements counts for the contender's role. Writers are pgbench
// with four clients, one row a transaction, in a role of their own.
#pragma once

#include "harness/contender.hpp"
#include "harness/results.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace walrelay::bench {

struct cost_options {
    std::vector<std::string> plugins;
    std::uint64_t seconds = 10;
    int repetitions = 5;
};

void measure_cost(const cost_options& how, const programs& with, results& into);

}  // namespace walrelay::bench
