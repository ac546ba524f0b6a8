#include "harness/drain.hpp"

#include "harness/process_use.hpp"
#include "harness/progress.hpp"

#include <nlohmann/json.hpp>

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

namespace walrelay::bench {
namespace {

using clock_type = std::chrono::steady_clock;

constexpr std::chrono::minutes longest{20};
constexpr double microseconds_in_second = 1e6;
constexpr double bytes_in_mib = 1 << 20U;

double rate(std::uint64_t rows, double seconds) {
    return static_cast<double>(rows) / seconds;
}

double per_event_microseconds(double seconds, std::uint64_t rows) {
    return seconds * microseconds_in_second / static_cast<double>(rows);
}

void require_success(test::child_process& process, const std::string& name) {
    const auto code = process.wait_exit(longest);
    if (code != 0) {
        throw std::runtime_error(name + " failed: " + process.standard_error());
    }
}

double published_seconds(const test::child_process& publisher) {
    const auto said = publisher.standard_output();
    const auto line = said.substr(said.rfind('{'));
    return nlohmann::json::parse(line).at("seconds");
}

double measure_limit(bed& on, const place& where, const std::string& plugin, std::uint64_t rows,
                     results& into) {
    on.reset(plugin);
    const auto decode = on.decode(plugin);
    const auto publish = on.publish(rows);
    sync();
    const auto start = clock_type::now();
    test::child_process decoder(decode);
    test::child_process publisher(publish);
    double decoded = 0;
    while (decoder.running() || publisher.running()) {
        poll(nullptr, 0, 1);
        if (decoded == 0 && !decoder.running()) {
            decoded = std::chrono::duration<double>(clock_type::now() - start).count();
        }
    }
    const double both = std::chrono::duration<double>(clock_type::now() - start).count();
    require_success(decoder, "pg_recvlogical");
    require_success(publisher, "bench_publisher");
    into.add(where, "rows_per_second", rate(rows, both));
    into.add(where, "decoder_rows_per_second", rate(rows, decoded == 0 ? both : decoded));
    into.add(where, "publisher_rows_per_second", rate(rows, published_seconds(publisher)));
    return rate(rows, both);
}

/// From `start` until the stream has every row.
double drained_seconds(bed& on, const place& where, test::relay_process& relay,
                       clock_type::time_point start, std::uint64_t rows, results& into) {
    try {
        const double first = on.wait_for_messages(1, start, longest);
        const double all = on.wait_for_messages(rows, start, longest);
        into.add(where, "rows_per_second", rate(rows, all));
        into.add(where, "first_message_seconds", first);
        return all;
    } catch (const std::exception& failure) {
        throw std::runtime_error(std::string(failure.what()) + "; walrelay said:\n" + relay.log());
    }
}

pid_t sender_of(bed& on) {
    return std::stoi(on.postgres.session().value_of(
        std::string("SELECT active_pid FROM pg_replication_slots WHERE slot_name = '") + bed::slot +
        "'"));
}

}  // namespace

double measure_relay_drain(bed& on, const place& where, const std::string& plugin,
                           std::uint64_t rows, results& into) {
    const auto end = on.postgres.session().value_of("SELECT pg_current_wal_lsn()");
    const double broker_before = processor_seconds(on.nats.pid());
    sync();
    const auto start = clock_type::now();
    test::relay_process relay(on.how("run", plugin));
    const double seconds = drained_seconds(on, where, relay, start, rows, into);
    if (!on.wait_for_confirmed(end, std::chrono::seconds(60))) {
        throw std::runtime_error("the slot is not confirmed up to its end:\n" + relay.log());
    }
    const auto pid = relay.process().pid();
    into.add(where, "relay_cpu_microseconds", per_event_microseconds(processor_seconds(pid), rows));
    into.add(where, "sender_cpu_microseconds",
             per_event_microseconds(processor_seconds(sender_of(on)), rows));
    into.add(where, "broker_cpu_microseconds",
             per_event_microseconds(processor_seconds(on.nats.pid()) - broker_before, rows));
    into.add(where, "peak_mib",
             static_cast<double>(relay.process().resident_peak_bytes()) / bytes_in_mib);
    if (relay.stop(std::chrono::seconds(30)) != 0) {
        throw std::runtime_error("walrelay did not stop in order:\n" + relay.log());
    }
    return rate(rows, seconds);
}

void measure_drain(const std::string& part, const drain_scenario& scenario,
                   const drain_options& how, const programs& with, results& into) {
    const auto rows = scenario.rows.rows;
    say("{}: {}: making {} rows", part, scenario.name, rows);
    bed on(with);
    on.calibrate(scenario.body_bytes);
    auto session = on.postgres.session();
    fill(session, scenario.rows);
    for (int repetition = 1; repetition <= how.repetitions; ++repetition) {
        for (const auto& plugin : how.plugins) {
            const place limit{part, scenario.name, limit_name(plugin)};
            const place relay{part, scenario.name, relay_name(plugin)};
            const double possible =
                how.with_limit ? measure_limit(on, limit, plugin, rows, into) : 0;
            on.reset(plugin);
            const double reached = measure_relay_drain(on, relay, plugin, rows, into);
            if (how.with_limit) {
                into.add(relay, "of_limit", reached / possible);
            }
            say("{}: {}: {} of {}: {} {:.0f} rows/s, limit {:.0f}", part, scenario.name, repetition,
                how.repetitions, plugin, reached, possible);
        }
    }
}

}  // namespace walrelay::bench
