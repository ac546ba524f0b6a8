#include "harness/replay.hpp"

#include "harness/ack_watch.hpp"
#include "harness/drain.hpp"
#include "harness/latency.hpp"
#include "harness/progress.hpp"

#include <chrono>
#include <optional>
#include <stdexcept>

namespace walrelay::bench {
namespace {

constexpr const char* part = "replay";
constexpr const char* copy = "AGAIN";
constexpr const char* bookmark = "past";
constexpr std::chrono::minutes longest{20};
constexpr std::chrono::seconds patience{60};

double seconds_since(clock_type::time_point start) {
    return std::chrono::duration<double>(clock_type::now() - start).count();
}

/// `walrelay <verb> <words> --config <file>`.
test::relay_start command(const bed& on, const std::string& plugin, const std::string& verb,
                          const std::vector<std::string>& words) {
    auto start = on.how(verb, plugin);
    start.arguments.insert(start.arguments.begin() + 1, words.begin(), words.end());
    start.name = verb;
    return start;
}

void run_to_success(const test::relay_start& what) {
    const auto done = test::run_to_end(what, longest);
    if (done.exit_code != 0) {
        throw std::runtime_error("walrelay " + what.name + " failed:\n" + done.errors);
    }
}

void make_bookmark(const bed& on, const std::string& plugin) {
    run_to_success(command(on, plugin, "bookmark", {"create", bookmark}));
}

void drop_bookmark(const bed& on, const std::string& plugin) {
    run_to_success(command(on, plugin, "bookmark", {"drop", bookmark}));
}

test::relay_start replay_of(const bed& on, const std::string& plugin, std::uint64_t rows,
                            const std::vector<std::string>& more) {
    std::vector<std::string> words = {"--from", std::string("bookmark:") + bookmark, "--limit",
                                      std::to_string(rows), "--execute"};
    words.insert(words.end(), more.begin(), more.end());
    return command(on, plugin, "replay", words);
}

/// Rows by the sequence numbers of their messages; 0 for those that were replayed.
std::vector<std::uint64_t> live_rows_in_stream(test::stream_reader& reader) {
    std::vector<std::uint64_t> rows;
    reader.for_each(bed::stream, 0, [&](const test::stored_message& message) {
        const auto row = row_in(message.header("Nats-Msg-Id"));
        rows.push_back(message.header("Walrelay-Replay").empty() ? row.value_or(0) : 0);
    });
    return rows;
}

// Into another stream.

/// Seconds of the whole command, which reads the rows once to count them and once to publish them.
double copy_seconds(bed& on, const std::string& plugin, std::uint64_t rows, double& copying) {
    test::stream_reader reader(on.nats.url());
    const auto start = clock_type::now();
    test::relay_process replay(
        replay_of(on, plugin, rows, {"--subject", "again.{subject}", "--to-stream", copy}));
    std::optional<double> first;
    while (replay.process().running()) {
        (void)replay.process().wait_exit(std::chrono::milliseconds(20));
        if (!first && reader.message_count(copy) > 0) {
            first = seconds_since(start);
        }
    }
    const double all = seconds_since(start);
    copying = all - first.value_or(0);
    if (replay.process().wait_exit(patience) != 0 || reader.message_count(copy) != rows) {
        throw std::runtime_error("walrelay replay --to-stream failed:\n" + replay.log());
    }
    reader.remove(copy);
    return all;
}

void copy_beside_drain(bed& on, const std::string& plugin, std::uint64_t rows, results& into) {
    const auto scenario = fmt::format("into another stream, {} rows", rows);
    const place drained{part, scenario, relay_name(plugin) + ", drain"};
    const place copied{part, scenario, relay_name(plugin)};
    const double reached = measure_relay(on, drained, on.how("run", plugin), plugin, rows, into);
    on.reset(plugin);
    make_bookmark(on, plugin);
    // A replay ends where the relay's slot stands.
    on.postgres.session().execute(
        fmt::format("SELECT pg_replication_slot_advance('{}', pg_current_wal_lsn())", bed::slot));
    double copying = 0;
    const auto count = static_cast<double>(rows);
    const double rows_per_second = count / copy_seconds(on, plugin, rows, copying);
    drop_bookmark(on, plugin);
    into.add(copied, "rows_per_second", count / copying);
    into.add(copied, "of_drain", count / copying / reached);
    into.add(copied, "with_plan_rows_per_second", rows_per_second);
    say("{}: {}: {}: {:.0f} rows/s, drain {:.0f}", part, scenario, plugin, count / copying,
        reached);
}

// Into the same stream.

void live_beside_replay(bed& on, const std::string& plugin, const replay_options& how,
                        const pace& live, const place& where, results& into) {
    on.start_over(plugin);
    make_bookmark(on, plugin);
    on.fill({.rows = how.rows});
    on.start_over(plugin);
    ack_watch watch(on.nats.url(), bed::stream, how.rows + live.rows());
    const auto relay = relay_contender(plugin).start(on);
    test::relay_process replay(replay_of(on, plugin, how.rows, {}));
    (void)on.wait_for_messages(1, clock_type::now(), longest);
    test::stream_reader reader(on.nats.url());
    const auto before = reader.message_count(bed::stream);
    const auto start = clock_type::now();
    const auto committed = write_at(on.writer_conninfo(), live);
    const auto written = on.postgres.session().value_of("SELECT pg_current_wal_lsn()");
    const double took = seconds_since(start);
    const auto after = reader.message_count(bed::stream);
    if (!replay.process().running()) {
        throw std::runtime_error(
            fmt::format("{} rows were replayed before the live rows were written: take more with "
                        "--rows, or fewer --seconds; walrelay said:\n{}",
                        how.rows, replay.log()));
    }
    const auto number = on.postgres.session().value_of("SELECT max(id) FROM walrelay.replay");
    run_to_success(command(on, plugin, "replay", {"cancel", number}));
    (void)replay.process().wait_exit(patience);
    if (!on.wait_for_confirmed(written, patience)) {
        throw std::runtime_error("the live rows are not confirmed:\n" + relay->log());
    }
    const auto end = clock_type::now();
    relay->stop();
    const auto acked = by_row(watch.stop(), live_rows_in_stream(reader), committed.size(), end);
    (void)add_latencies(committed, acked, live, where, into);
    into.add(where, "replayed_rows_per_second",
             (static_cast<double>(after - before) - static_cast<double>(live.rows())) / took);
    drop_bookmark(on, plugin);
}

void compare_live(bed& on, const std::string& plugin, const replay_options& how, results& into) {
    const auto scenario = fmt::format("{} live rows/s", how.rows_per_second);
    const place alone{part, scenario, relay_name(plugin) + ", no replay"};
    const place beside{part, scenario, relay_name(plugin)};
    const auto live = pace_of(how.rows_per_second, how.seconds);
    (void)measure_latency_of(relay_contender(plugin), on, live, alone, into);
    live_beside_replay(on, plugin, how, live, beside, into);
    say("{}: {}: {}", part, scenario, plugin);
}

}  // namespace

void measure_replay(const replay_options& how, const programs& with, results& into) {
    bed past(with);
    past.calibrate(300);
    past.fill({.rows = how.rows});
    bed present(with);
    present.calibrate(300);
    for (int repetition = 1; repetition <= how.repetitions; ++repetition) {
        for (const auto& plugin : how.plugins) {
            copy_beside_drain(past, plugin, how.rows, into);
            compare_live(present, plugin, how, into);
        }
        into.end_repetition();
    }
}

}  // namespace walrelay::bench
