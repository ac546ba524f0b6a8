#include "harness/latency.hpp"

#include "harness/ack_watch.hpp"
#include "harness/floor_relay.hpp"
#include "harness/process_use.hpp"
#include "harness/progress.hpp"
#include "harness/statement_count.hpp"
#include "support/eventually.hpp"

#include <algorithm>
#include <thread>
#include <utility>

namespace walrelay::bench {
namespace {

constexpr const char* part = "latency";
constexpr std::chrono::seconds patience{10};

double microseconds(clock_type::time_point from, clock_type::time_point to) {
    return std::chrono::duration<double, std::micro>(to - from).count();
}

/// Of sorted values.
double quantile(const std::vector<double>& sorted, double share) {
    return sorted.at(static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1)));
}

/// Of the rows after the first second, sorted.
std::vector<double> durations(const moments& from, const moments& to, const pace& how) {
    std::vector<double> all;
    for (std::size_t row = how.rows_per_second + 1; row < from.size(); ++row) {
        if (to[row] != clock_type::time_point{}) {
            all.push_back(microseconds(from[row], to[row]));
        }
    }
    std::sort(all.begin(), all.end());
    return all;
}

struct outcome {
    moments committed;
    moments acked;
};

outcome run(const contender& who, bed& on, const pace& how, const place& where, results& into) {
    constexpr double microseconds_in_second = 1e6;
    const auto rows = static_cast<double>(how.rows());
    who.prepare_before_slot(on);
    on.start_over(who.plugin);
    who.prepare(on);
    ack_watch watch(on.nats.url(), bed::stream, how.rows());
    const auto running = who.start(on);
    const auto pid = running->pid();
    if (statements_so_far(on)) {
        // What it asks at its start is not what it asks later.
        std::this_thread::sleep_for(std::chrono::seconds(2));
    }
    const auto asked_before = statements_so_far(on);
    const auto began = clock_type::now();
    const double used_before = pid ? processor_seconds(*pid) : 0;
    auto committed = write_at(on.writer_conninfo(), how);
    (void)test::eventually(patience, [&] { return watch.count() >= how.rows(); });
    const auto end = clock_type::now();
    into.add(where, "acked_share", static_cast<double>(watch.count()) / rows);
    if (pid) {
        into.add(where, "relay_cpu_microseconds",
                 (processor_seconds(*pid) - used_before) * microseconds_in_second / rows);
    }
    if (asked_before) {
        into.add(where, "statements_per_second",
                 (statements_so_far(on).value() - *asked_before) / microseconds(began, end) *
                     microseconds_in_second);
    }
    running->stop();
    const auto by_sequence = watch.stop();
    auto acked = by_row(by_sequence, on.rows_in_stream(), committed.size(), end);
    return {.committed = std::move(committed), .acked = std::move(acked)};
}

void compare(bed& on, const std::string& plugin, const pace& how, results& into) {
    const auto scenario = fmt::format("{} rows/s", how.rows_per_second);
    floor_moments least{.row_seen = moments(how.rows() + 1), .acked = moments(how.rows() + 1)};
    const auto floor = floor_contender(plugin, least);
    const place below{part, scenario, floor.name};
    const auto lowest = run(floor, on, how, below, into);
    const auto floor_all = add_latencies(lowest.committed, lowest.acked, how, below, into);
    into.add(below, "row_seen_p50_microseconds",
             quantile(durations(lowest.committed, least.row_seen, how), 0.5));
    into.add(below, "round_trip_p50_microseconds",
             quantile(durations(least.row_seen, least.acked, how), 0.5));

    const auto relay = relay_contender(plugin);
    const place above{part, scenario, relay.name};
    const auto relay_all = measure_latency_of(relay, on, how, above, into);
    add_ratio(above, "p50_of_floor", quantile(relay_all, 0.5), quantile(floor_all, 0.5), into);
    add_ratio(above, "p99_of_floor", quantile(relay_all, 0.99), quantile(floor_all, 0.99), into);
    say("latency: {}, {}: p50 {:.0f} us, floor {:.0f} us", scenario, plugin,
        quantile(relay_all, 0.5), quantile(floor_all, 0.5));
}

}  // namespace

moments by_row(const moments& by_sequence, const std::vector<std::uint64_t>& rows,
               std::size_t count, clock_type::time_point otherwise) {
    moments acked(count, otherwise);
    for (std::size_t index = 0; index < rows.size() && index < by_sequence.size(); ++index) {
        if (by_sequence[index] != clock_type::time_point{}) {
            acked.at(rows[index]) = by_sequence[index];
        }
    }
    return acked;
}

std::vector<double> add_latencies(const moments& committed, const moments& acked, const pace& how,
                                  const place& where, results& into) {
    constexpr double microseconds_in_second = 1e6;
    auto all = durations(committed, acked, how);
    into.add(where, "p50_microseconds", quantile(all, 0.5));
    into.add(where, "p99_microseconds", quantile(all, 0.99));
    into.add(where, "p999_microseconds", quantile(all, 0.999));
    into.add(where, "max_microseconds", all.back());
    const auto last = *std::max_element(committed.begin(), committed.end());
    const double seconds = microseconds(committed[1], last) / microseconds_in_second;
    into.add(where, "written_rows_per_second", static_cast<double>(how.rows()) / seconds);
    return all;
}

std::vector<double> measure_latency_of(const contender& who, bed& on, const pace& how,
                                       const place& where, results& into) {
    const auto seen = run(who, on, how, where, into);
    return add_latencies(seen.committed, seen.acked, how, where, into);
}

void add_ratio(const place& where, const std::string& metric, double above, double below,
               results& into) {
    // On a machine that is too busy to tell the writer in time, a latency can be below zero.
    if (above > 0 && below > 0) {
        into.add(where, metric, above / below);
    }
}

void measure_latency(const latency_options& how, const programs& with, results& into) {
    bed on(with);
    on.calibrate(300);
    for (int repetition = 1; repetition <= how.repetitions; ++repetition) {
        say("latency: repetition {} of {}", repetition, how.repetitions);
        for (const auto rate : how.rates) {
            for (const auto& plugin : how.plugins) {
                compare(on, plugin, pace_of(rate, how.seconds), into);
            }
        }
        into.end_repetition();
    }
}

}  // namespace walrelay::bench
