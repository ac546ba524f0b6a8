// How fast a backlog gets from the slot into the stream, against what the servers could do.
//
// The limit, measured in the same repetition: the decoder alone (pg_recvlogical into /dev/null with
// the options that the relay asks for) and a publisher alone (copies of the relay's messages into
// a stream of the same configuration) started side by side; rows divided by the time when both are
// done. The relay's time runs from the start of its program until the stream has every row.
#pragma once

#include "harness/bed.hpp"
#include "harness/results.hpp"

#include <string>
#include <vector>

namespace walrelay::bench {

struct drain_scenario {
    std::string name;
    backlog rows;
    std::uint64_t body_bytes = 300;
};

struct drain_options {
    std::vector<std::string> plugins;
    int repetitions = 5;
    bool with_limit = true;
};

/// All repetitions of one scenario; `part` is where the figures go.
void measure_drain(const std::string& part, const drain_scenario& scenario,
                   const drain_options& how, const programs& with, results& into);

/// One relay from start to the last message, of a backlog that lies behind the base slot, which
/// the relay's slot and stream have been reset to. Returns rows per second.
double measure_relay_drain(bed& on, const place& where, const std::string& plugin,
                           std::uint64_t rows, results& into);

}  // namespace walrelay::bench
