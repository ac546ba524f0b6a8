#include "harness/peers.hpp"

#include "harness/latency.hpp"
#include "harness/process_use.hpp"
#include "harness/progress.hpp"
#include "harness/statement_count.hpp"
#include "harness/wal_listener.hpp"
#include "support/eventually.hpp"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <stdexcept>

namespace walrelay::bench {
namespace {

constexpr const char* part = "peers";
constexpr std::chrono::seconds patience{30};
constexpr const char* slow_poller = "poller 5 s";
const std::string npm_names = "npm log tail";

struct peer {
    std::string name;
    std::string plugin;
    std::vector<std::string> arguments;
    bool polls = false;
};

test::command command_of(const bed& on, const std::filesystem::path& folder,
                         const std::vector<std::string>& arguments) {
    test::command what{.program = "node", .folder = on.folder(), .name = "peer"};
    what.arguments = arguments;
    what.arguments.front() = (folder / arguments.front()).string();
    what.environment = {{"BENCH_CONNINFO", on.postgres.conninfo()},
                        {"BENCH_PGHOST", "127.0.0.1"},
                        {"BENCH_PGPORT", std::to_string(on.postgres.port())},
                        {"BENCH_PGUSER", "postgres"},
                        {"BENCH_PGDATABASE", "postgres"},
                        {"BENCH_NATS_URL", on.nats.url()},
                        {"BENCH_STREAM", bed::stream},
                        {"BENCH_SUBJECT_PREFIX", "events"},
                        {"BENCH_SLOT", bed::slot},
                        {"BENCH_PUBLICATION", bed::publication},
                        {"BENCH_TABLE", outbox_table}};
    return what;
}

class running_peer : public running_contender {
public:
    explicit running_peer(const test::command& what) : process_(fresh(what)) {
        const bool ready = test::eventually(patience, [this] {
            return !process_.running() || process_.standard_output().starts_with("ready");
        });
        if (!ready || !process_.running()) {
            throw std::runtime_error("a peer does not start: " + log());
        }
    }

    [[nodiscard]] std::optional<pid_t> pid() const override { return process_.pid(); }
    [[nodiscard]] std::string log() const override { return process_.standard_error(); }

    void stop() override {
        process_.signal(SIGTERM);
        if (process_.wait_exit(patience) != 0) {
            throw std::runtime_error("a peer does not end in order: " + log());
        }
    }

private:
    /// What the one before has said must not be taken for this one's.
    static const test::command& fresh(const test::command& what) {
        std::filesystem::remove(what.folder / (what.name + ".stdout"));
        std::filesystem::remove(what.folder / (what.name + ".stderr"));
        return what;
    }

    test::child_process process_;
};

/// It has no slot; an index of its own is in the table before the first look.
void prepare_polling(bed& on, const test::command& poller) {
    on.remove_slots();
    auto preparing = poller;
    preparing.arguments.emplace_back("--prepare");
    test::run_to_success(preparing, patience);
    auto session = on.postgres.session();
    make_ready_for_polling(session);
}

contender contender_of(const peer& which, const std::filesystem::path& folder) {
    contender made{
        .name = which.name, .plugin = which.plugin, .start = [which, folder](bed& on) {
            return std::make_unique<running_peer>(command_of(on, folder, which.arguments));
        }};
    if (which.polls) {
        made.prepare = [which, folder](bed& on) {
            prepare_polling(on, command_of(on, folder, which.arguments));
        };
    }
    return made;
}

bool node_runs() {
    const test::temporary_folder folder("bench");
    test::child_process process(
        {.program = "node", .arguments = {"--version"}, .folder = folder.path(), .name = "node"});
    return process.wait_exit(patience) == 0;
}

/// What one contender has reached in one repetition, to be compared with the others.
struct reached {
    double rows_per_second = 0;
    /// By rate; in microseconds.
    std::map<std::uint64_t, double> median_latency = {};
};

void add_use(const running_contender& who, double rows, const place& where, results& into) {
    constexpr double microseconds_in_second = 1e6;
    constexpr double bytes_in_mib = 1 << 20U;
    if (const auto pid = who.pid(); pid && rows > 0) {
        into.add(where, "relay_cpu_microseconds",
                 processor_seconds(*pid) * microseconds_in_second / rows);
        into.add(where, "peak_mib", static_cast<double>(peak_resident_bytes(*pid)) / bytes_in_mib);
    }
}

std::string backlog_name(const peers_options& how) {
    return fmt::format("backlog of {} rows", how.rows);
}

std::string rate_name(std::uint64_t rate) {
    return fmt::format("{} rows/s", rate);
}

double measure_throughput(const contender& who, bed& on, const peers_options& how, results& into) {
    const place where{part, backlog_name(how), who.name};
    who.prepare_before_slot(on);
    on.start_over(who.plugin);
    on.fill({.rows = how.rows});
    who.prepare(on);
    sync();
    const auto start = std::chrono::steady_clock::now();
    const auto running = who.start(on);
    const auto arrived = on.messages_within(how.rows, start, peers_options::drain_limit);
    const auto done = static_cast<double>(arrived.messages);
    into.add(where, "rows_per_second", done / arrived.seconds);
    add_use(*running, done, where, into);
    running->stop();
    say("peers: {}: {:.0f} rows/s", who.name, done / arrived.seconds);
    return done / arrived.seconds;
}

reached measure_one(const contender& who, bed& on, const peers_options& how, results& into) {
    reached all{.rows_per_second = measure_throughput(who, on, how, into)};
    for (const auto rate : how.rates) {
        const auto sorted = measure_latency_of(who, on, pace_of(rate, how.seconds),
                                               {part, rate_name(rate), who.name}, into);
        all.median_latency[rate] = sorted.at(sorted.size() / 2);
        say("peers: {}: {} rows/s: p50 {:.0f} us", who.name, rate, all.median_latency[rate]);
    }
    return all;
}

using repetition = std::map<std::string, reached>;

/// Walrelay against the best relay from npm and against the poller that has the longest interval.
void compare(const repetition& all, const peers_options& how, results& into) {
    double best_npm = 0;
    for (const auto& [name, what] : all) {
        if (name.starts_with(npm_names)) {
            best_npm = std::max(best_npm, what.rows_per_second);
        }
    }
    const auto slow = all.find(slow_poller);
    const auto listener = all.find(wal_listener_name);
    for (const auto& plugin : how.plugins) {
        const auto relay = all.find(relay_name(plugin));
        if (relay == all.end()) {
            continue;
        }
        if (best_npm > 0) {
            into.add({part, backlog_name(how), relay->first}, "of_best_npm",
                     relay->second.rows_per_second / best_npm);
        }
        if (listener != all.end()) {
            add_ratio({part, backlog_name(how), relay->first}, "of_wal_listener",
                      relay->second.rows_per_second, listener->second.rows_per_second, into);
        }
        if (slow != all.end()) {
            for (const auto& [rate, latency] : relay->second.median_latency) {
                add_ratio({part, rate_name(rate), relay->first}, "below_polling",
                          slow->second.median_latency.at(rate), latency, into);
            }
        }
    }
}

}  // namespace

std::vector<contender> find_peers(const std::filesystem::path& folder, results& into) {
    if (!node_runs()) {
        into.note("The peers are left out: node is not there (apt-get install nodejs npm).");
        return {};
    }
    if (!std::filesystem::exists(folder / "node_modules")) {
        into.note("The peers are left out: run npm ci in benchmarks/peers.");
        return {};
    }
    const std::vector<peer> all = {
        {slow_poller, "pgoutput", {"poller.mjs", "--interval", "5000"}, true},
        {"poller 100 ms", "pgoutput", {"poller.mjs", "--interval", "100"}, true},
        {npm_names + " pgoutput", "pgoutput", {"log-tail.mjs", "--plugin", "pgoutput"}},
        {npm_names + " wal2json", "wal2json", {"log-tail.mjs", "--plugin", "wal2json"}}};
    std::vector<contender> found;
    found.reserve(all.size());
    for (const auto& each : all) {
        found.push_back(contender_of(each, folder));
    }
    return found;
}

void measure_peers(const peers_options& how, const programs& with, results& into) {
    bed on(with, counting_settings());
    count_statements(on);
    constexpr std::uint64_t body_bytes = 300;
    on.calibrate(body_bytes);
    std::vector<contender> all;
    all.reserve(how.plugins.size() + how.peers.size());
    for (const auto& plugin : how.plugins) {
        all.push_back(relay_contender(plugin));
    }
    all.insert(all.end(), how.peers.begin(), how.peers.end());
    for (int count = 1; count <= how.repetitions; ++count) {
        say("peers: repetition {} of {}", count, how.repetitions);
        repetition seen;
        for (const auto& who : all) {
            try {
                seen[who.name] = measure_one(who, on, how, into);
            } catch (const std::exception& failure) {
                say("peers: {} failed: {}", who.name, failure.what());
                into.note(who.name + " failed: " + failure.what());
            }
        }
        compare(seen, how, into);
        into.end_repetition();
    }
}

}  // namespace walrelay::bench
