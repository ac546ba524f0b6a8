// How fast a backlog gets from the slot into the stream, against what the servers could do.
//
// The limit, measured in the same repetition: the decoder alone (pg_recvlogical into /dev/null with
// the options that the relay asks for) and a publisher alone (copies of the relay's messages into
// a stream of the same configuration) started side by side; rows divided by the time when both are
// done. The relay's time runs from the start of its program until the stream has every row. The
// bare limit is the same with a publisher that has no client library and next to no work.
#pragma once

#include "harness/bed.hpp"
#include "harness/results.hpp"

#include <string>
#include <vector>

namespace walrelay::bench {

struct drain_scenario {
    /// As the command line calls it.
    std::string key;
    std::string name;
    backlog rows;
    std::uint64_t body_bytes = 300;
    bool with_bare_limit = false;
};

/// Each with `rows` rows, or as many as make a gigabyte. The first is the main one.
[[nodiscard]] std::vector<drain_scenario> drain_scenarios(std::uint64_t rows);

struct drain_options {
    std::vector<std::string> plugins;
    int repetitions = 5;
    bool with_limit = true;
};

/// What one run costs and brings.
struct drain_figures {
    double rows_per_second = 0;
    /// Of all servers of the broker, for a row.
    double broker_microseconds = 0;
};

/// A run of a drain: its rows lie behind the base slot.
struct drain_run {
    std::string plugin;
    std::uint64_t rows = 0;
    /// Of a broker of several servers.
    broker_role role = broker_role::any;
};

/// The decoder and a publisher beside each other, both to their end.
drain_figures measure_limit(bed& on, const place& where, const drain_run& run, publisher_kind kind,
                            results& into);

/// A publisher alone, to its end.
drain_figures measure_publisher(bed& on, const place& where, const test::command& publisher,
                                std::uint64_t rows, results& into);

/// One relay from its start to the last message. `program`: which walrelay.
drain_figures measure_relay(bed& on, const place& where, const drain_run& run,
                            const std::filesystem::path& program, results& into);

/// Adds what a relay reached of the limit, and what it costs the broker beside it.
void add_ratios(const place& relay, const drain_figures& reached, const drain_figures& limit,
                results& into);

/// The same of another build beside the first.
void add_ratios_of_build(const place& where, const drain_figures& reached,
                         const drain_figures& first, results& into);

/// One relay as `how` starts it. Returns rows per second.
double measure_relay(bed& on, const place& where, const test::relay_start& how,
                     const std::string& plugin, std::uint64_t rows, results& into);

/// Every repetition of one scenario after the other.
void measure_drain(const drain_scenario& scenario, const drain_options& how, const programs& with,
                   results& into);

/// The same rows as a small and as a large backlog, in turn; without the limit.
void measure_growth(const std::vector<std::uint64_t>& sizes, const drain_options& how,
                    const programs& with, results& into);

}  // namespace walrelay::bench
