#include "harness/drain.hpp"

#include "harness/process_use.hpp"
#include "harness/progress.hpp"

#include <nlohmann/json.hpp>

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
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
                     publisher_kind kind, results& into) {
    on.reset(plugin);
    const auto decode = on.decode(plugin);
    const auto publish = on.publish(rows, kind);
    const double broker_before = processor_seconds(on.nats.pid());
    const double clients_before = processor_seconds_of_ended();
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
    into.add(where, "relay_cpu_microseconds",
             per_event_microseconds(processor_seconds_of_ended() - clients_before, rows));
    into.add(where, "broker_cpu_microseconds",
             per_event_microseconds(processor_seconds(on.nats.pid()) - broker_before, rows));
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

/// A backlog that has been made, to be drained again and again.
class drain_bed {
public:
    drain_bed(std::string part, drain_scenario scenario, const programs& with)
        : part_(std::move(part)), scenario_(std::move(scenario)), bed_(with), others_(with.others) {
        say("{}: {}: making {} rows", part_, scenario_.name, scenario_.rows.rows);
        bed_.calibrate(scenario_.body_bytes);
        bed_.fill(scenario_.rows);
    }

    /// One repetition with each plugin; returns the relay's rows per second with each.
    std::vector<double> repeat(const drain_options& how, results& into) {
        std::vector<double> reached;
        reached.reserve(how.plugins.size());
        for (const auto& plugin : how.plugins) {
            reached.push_back(drain_once(plugin, how.with_limit, into));
        }
        return reached;
    }

private:
    double drain_once(const std::string& plugin, bool with_limit, results& into) {
        const auto rows = scenario_.rows.rows;
        const place relay{part_, scenario_.name, relay_name(plugin)};
        const place limit{part_, scenario_.name, limit_name(plugin)};
        const place bare{part_, scenario_.name, "bare " + limit_name(plugin)};
        const double possible =
            with_limit ? measure_limit(bed_, limit, plugin, rows, publisher_kind::library, into)
                       : 0;
        const double reached =
            measure_relay(bed_, relay, bed_.how("run", plugin), plugin, rows, into);
        for (const auto& other : others_) {
            drain_with(other, plugin, reached, into);
        }
        if (with_limit) {
            into.add(relay, "of_limit", reached / possible);
        }
        if (with_limit && scenario_.with_bare_limit) {
            into.add(relay, "of_bare_limit",
                     reached / measure_limit(bed_, bare, plugin, rows, publisher_kind::bare, into));
        }
        say("{}: {}: {}: {:.0f} rows/s{}", part_, scenario_.name, plugin, reached,
            with_limit ? fmt::format(", limit {:.0f}", possible) : "");
        return reached;
    }

    void drain_with(const other_build& other, const std::string& plugin, double first,
                    results& into) {
        const place where{part_, scenario_.name, other.name + ", " + relay_name(plugin)};
        auto how = bed_.how("run", plugin);
        how.program = other.program;
        const double reached = measure_relay(bed_, where, how, plugin, scenario_.rows.rows, into);
        into.add(where, "of_first", reached / first);
        say("{}: {}: {}, {}: {:.0f} rows/s", part_, scenario_.name, other.name, plugin, reached);
    }

    std::string part_;
    drain_scenario scenario_;
    bed bed_;
    std::vector<other_build> others_;
};

}  // namespace

double measure_relay(bed& on, const place& where, const test::relay_start& how,
                     const std::string& plugin, std::uint64_t rows, results& into) {
    const auto end = on.postgres.session().value_of("SELECT pg_current_wal_lsn()");
    on.reset(plugin);
    const double broker_before = processor_seconds(on.nats.pid());
    sync();
    const auto start = clock_type::now();
    test::relay_process relay(how);
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

std::vector<drain_scenario> drain_scenarios(std::uint64_t rows) {
    constexpr std::uint64_t bytes_most = 1'000'000'000;
    constexpr std::uint64_t kib = 1024;
    const auto of_size = [&](const std::string& key, const std::string& size, std::uint64_t bytes) {
        const auto count = std::min(rows, bytes_most / bytes);
        return drain_scenario{.key = key,
                              .name = fmt::format("{}, {} rows", size, count),
                              .rows = {.rows = count},
                              .body_bytes = bytes};
    };
    const auto of_transactions = [&](const std::string& key, const std::string& name,
                                     std::uint64_t size) {
        return drain_scenario{.key = key,
                              .name = fmt::format("300 B, {} rows, {}", rows, name),
                              .rows = {.rows = rows, .rows_per_transaction = size}};
    };
    auto main = of_size("300B", "300 B", 300);
    main.with_bare_limit = true;
    auto neighbour = of_transactions("neighbour", "busy neighbour", 1000);
    neighbour.rows.busy_neighbour = true;
    return {main,
            of_size("100B", "100 B", 100),
            of_size("4KiB", "4 KiB", 4 * kib),
            of_size("64KiB", "64 KiB", 64 * kib),
            of_transactions("tx1", "transactions of 1", 1),
            of_transactions("tx10", "transactions of 10", 10),
            of_transactions("one-tx", "one transaction", rows),
            neighbour};
}

void measure_drain(const drain_scenario& scenario, const drain_options& how, const programs& with,
                   results& into) {
    drain_bed on("drain", scenario, with);
    for (int repetition = 1; repetition <= how.repetitions; ++repetition) {
        (void)on.repeat(how, into);
        into.end_repetition();
    }
}

void measure_growth(const std::vector<std::uint64_t>& sizes, const drain_options& how,
                    const programs& with, results& into) {
    std::vector<std::unique_ptr<drain_bed>> beds;
    for (const auto size : sizes) {
        const drain_scenario scenario{
            .key = "growth", .name = fmt::format("{} rows", size), .rows = {.rows = size}};
        beds.push_back(std::make_unique<drain_bed>("growth", scenario, with));
    }
    for (int repetition = 1; repetition <= how.repetitions; ++repetition) {
        const auto smallest = beds.front()->repeat(how, into);
        for (std::size_t size = 1; size < sizes.size(); ++size) {
            const auto reached = beds[size]->repeat(how, into);
            for (std::size_t index = 0; index < reached.size(); ++index) {
                into.add(
                    {"growth", fmt::format("{} rows", sizes[size]), relay_name(how.plugins[index])},
                    "of_smallest", reached[index] / smallest[index]);
            }
        }
        into.end_repetition();
    }
}

}  // namespace walrelay::bench
