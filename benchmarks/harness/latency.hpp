// How long a committed row takes until the broker has acked its message, at a steady rate.
//
// From the moment at which COMMIT has returned to the writer until the ack of the row's message has
// arrived at a client of the broker that listens beside the contender. It can be less than nothing:
// the server may tell the relay of a commit before it tells the writer. The floor is the same for
// the least that a relay could be (floor_relay): commit to row seen, and one publish round trip.
#pragma once

#include "harness/ack_watch.hpp"
#include "harness/contender.hpp"
#include "harness/paced_writers.hpp"
#include "harness/results.hpp"

#include <string>
#include <vector>

namespace walrelay::bench {

struct latency_options {
    std::vector<std::string> plugins;
    std::vector<std::uint64_t> rates = {100, 1000, 10000};
    std::uint64_t seconds = 10;
    int repetitions = 5;
};

using moments = std::vector<clock_type::time_point>;

/// What a watch has seen, by row number instead of sequence; `rows` are those of the sequences, 0
/// for a message that does not count. Of a row that was not seen, `otherwise`.
[[nodiscard]] moments by_row(const moments& by_sequence, const std::vector<std::uint64_t>& rows,
                             std::size_t count, clock_type::time_point otherwise);

/// Adds the quantiles of the rows after the first second; returns all in microseconds, sorted.
std::vector<double> add_latencies(const moments& committed, const moments& acked, const pace& how,
                                  const place& where, results& into);

/// One contender at one rate; returns the latencies in microseconds, sorted, without those of the
/// first second. Where it has not published every row some time after the last was written, those
/// that are left count with the time that they have waited by then.
std::vector<double> measure_latency_of(const contender& who, bed& on, const pace& how,
                                       const place& where, results& into);

/// Adds the ratio of two latencies, where both can be compared.
void add_ratio(const place& where, const std::string& metric, double above, double below,
               results& into);

void measure_latency(const latency_options& how, const programs& with, results& into);

}  // namespace walrelay::bench
