// How long a relay takes until it relays again when its slot still holds rows that the stream has
// already: it was killed before the slot was confirmed.
//
// The slot is a copy that was made before the drain and takes the relay's slot's place; one new row
// lies behind the rows that are to be skipped. From the start of the program until that row is in
// the stream, against the decoder alone over the same WAL.
#pragma once

#include "harness/bed.hpp"
#include "harness/results.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace walrelay::bench {

struct restart_options {
    std::vector<std::string> plugins;
    std::uint64_t rows = 1'000'000;
    int repetitions = 5;
};

void measure_restart(const restart_options& how, const programs& with, results& into);

}  // namespace walrelay::bench
