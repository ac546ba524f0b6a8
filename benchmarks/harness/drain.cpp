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

/// Adds what the run has cost the broker.
drain_figures with_broker(const bed& on, const place& where, double rows_per_second,
                          double seconds_before, std::uint64_t rows, results& into) {
    const drain_figures figures{.rows_per_second = rows_per_second,
                                .broker_microseconds = per_event_microseconds(
                                    on.nats.processor_seconds() - seconds_before, rows)};
    into.add(where, "broker_cpu_microseconds", figures.broker_microseconds);
    return figures;
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

/// From the start of the relay until the stream has every row, and the slot is confirmed up to
/// `end`.
drain_figures drain(bed& on, const place& where, const test::relay_start& how,
                    const std::string& end, std::uint64_t rows, results& into) {
    const double broker_before = on.nats.processor_seconds();
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
    into.add(where, "peak_mib",
             static_cast<double>(relay.process().resident_peak_bytes()) / bytes_in_mib);
    const auto figures = with_broker(on, where, rate(rows, seconds), broker_before, rows, into);
    if (relay.stop(std::chrono::seconds(30)) != 0) {
        throw std::runtime_error("walrelay did not stop in order:\n" + relay.log());
    }
    return figures;
}

/// A backlog that has been made, to be drained again and again.
class drain_bed {
public:
    drain_bed(std::string part, drain_scenario scenario, const programs& with)
        : part_(std::move(part)), scenario_(std::move(scenario)), bed_(with) {
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
        const drain_run run{.plugin = plugin, .rows = scenario_.rows.rows};
        const place relay{part_, scenario_.name, relay_name(plugin)};
        const place limit{part_, scenario_.name, limit_name(plugin)};
        const place bare{part_, scenario_.name, "bare " + limit_name(plugin)};
        const auto possible = with_limit
                                  ? measure_limit(bed_, limit, run, publisher_kind::library, into)
                                  : drain_figures{};
        const auto reached = measure_relay(bed_, relay, run, bed_.tools().walrelay, into);
        for (const auto& other : bed_.tools().others) {
            drain_with(other, run, reached, into);
        }
        if (with_limit) {
            add_ratios(relay, reached, possible, into);
        }
        if (with_limit && scenario_.with_bare_limit) {
            into.add(
                relay, "of_bare_limit",
                reached.rows_per_second /
                    measure_limit(bed_, bare, run, publisher_kind::bare, into).rows_per_second);
        }
        say("{}: {}: {}: {:.0f} rows/s{}", part_, scenario_.name, plugin, reached.rows_per_second,
            with_limit ? fmt::format(", limit {:.0f}", possible.rows_per_second) : "");
        return reached.rows_per_second;
    }

    void drain_with(const other_build& other, const drain_run& run, const drain_figures& first,
                    results& into) {
        const place where{part_, scenario_.name, other.name + ", " + relay_name(run.plugin)};
        const auto reached = measure_relay(bed_, where, run, other.program, into);
        add_ratios_of_build(where, reached, first, into);
        say("{}: {}: {}, {}: {:.0f} rows/s", part_, scenario_.name, other.name, run.plugin,
            reached.rows_per_second);
    }

    std::string part_;
    drain_scenario scenario_;
    bed bed_;
};

}  // namespace

drain_figures measure_limit(bed& on, const place& where, const drain_run& run, publisher_kind kind,
                            results& into) {
    const auto rows = run.rows;
    on.reset(run.plugin);
    on.connect_at(run.role, run.plugin);
    const auto decode = on.decode(run.plugin);
    const auto publish = on.publish(rows, kind);
    const double broker_before = on.nats.processor_seconds();
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
    return with_broker(on, where, rate(rows, both), broker_before, rows, into);
}

drain_figures measure_publisher(bed& on, const place& where, const test::command& publisher,
                                std::uint64_t rows, results& into) {
    const double broker_before = on.nats.processor_seconds();
    test::child_process process(publisher);
    require_success(process, "bench_publisher");
    const double reached = rate(rows, published_seconds(process));
    into.add(where, "publisher_rows_per_second", reached);
    return with_broker(on, where, reached, broker_before, rows, into);
}

drain_figures measure_relay(bed& on, const place& where, const drain_run& run,
                            const std::filesystem::path& program, results& into) {
    const auto end = on.postgres.session().value_of("SELECT pg_current_wal_lsn()");
    on.reset(run.plugin);
    on.connect_at(run.role, run.plugin);
    auto how = on.how("run", run.plugin);
    how.program = program;
    return drain(on, where, how, end, run.rows, into);
}

void add_ratios(const place& relay, const drain_figures& reached, const drain_figures& limit,
                results& into) {
    into.add(relay, "of_limit", reached.rows_per_second / limit.rows_per_second);
    if (limit.broker_microseconds > 0) {
        into.add(relay, "broker_of_limit", reached.broker_microseconds / limit.broker_microseconds);
    }
}

void add_ratios_of_build(const place& where, const drain_figures& reached,
                         const drain_figures& first, results& into) {
    into.add(where, "of_first", reached.rows_per_second / first.rows_per_second);
    if (first.broker_microseconds > 0) {
        into.add(where, "broker_of_first", reached.broker_microseconds / first.broker_microseconds);
    }
}

double measure_relay(bed& on, const place& where, const test::relay_start& how,
                     const std::string& plugin, std::uint64_t rows, results& into) {
    const auto end = on.postgres.session().value_of("SELECT pg_current_wal_lsn()");
    on.reset(plugin);
    return drain(on, where, how, end, rows, into).rows_per_second;
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
