#include "harness/peers.hpp"

#include "harness/latency.hpp"
#include "harness/process_use.hpp"
#include "harness/progress.hpp"
#include "support/eventually.hpp"

#include <unistd.h>

#include <csignal>
#include <stdexcept>

namespace walrelay::bench {
namespace {

constexpr const char* part = "peers";
constexpr std::chrono::seconds patience{30};

struct peer {
    std::string name;
    std::string plugin;
    std::vector<std::string> arguments;
    /// It needs something of its own in the database.
    bool prepares = false;
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

contender contender_of(const peer& which, const std::filesystem::path& folder) {
    return {.name = which.name, .plugin = which.plugin, .start = [which, folder](bed& on) {
                if (which.prepares) {
                    auto arguments = which.arguments;
                    arguments.emplace_back("--prepare");
                    test::run_to_success(command_of(on, folder, arguments), patience);
                }
                return std::make_unique<running_peer>(command_of(on, folder, which.arguments));
            }};
}

bool node_runs() {
    const test::temporary_folder folder("bench");
    test::child_process process(
        {.program = "node", .arguments = {"--version"}, .folder = folder.path(), .name = "node"});
    return process.wait_exit(patience) == 0;
}

void measure_throughput(const contender& who, bed& on, const peers_options& how, results& into) {
    constexpr std::chrono::seconds limit{30};
    constexpr double microseconds_in_second = 1e6;
    const place where{part, fmt::format("backlog of {} rows", how.rows), who.name};
    on.start_over(who.plugin);
    auto session = on.postgres.session();
    fill(session, {.rows = how.rows});
    sync();
    const auto start = std::chrono::steady_clock::now();
    const auto running = who.start(on);
    const auto arrived = on.messages_within(how.rows, start, limit);
    const auto done = static_cast<double>(arrived.messages);
    into.add(where, "rows_per_second", done / arrived.seconds);
    if (const auto pid = running->pid(); pid && arrived.messages > 0) {
        into.add(where, "relay_cpu_microseconds",
                 processor_seconds(*pid) * microseconds_in_second / done);
    }
    running->stop();
    say("peers: {}: {:.0f} rows/s", who.name, done / arrived.seconds);
}

void measure_one(const contender& who, bed& on, const peers_options& how, results& into) {
    try {
        measure_throughput(who, on, how, into);
        for (const auto rate : how.rates) {
            (void)measure_latency_of(who, on, pace_of(rate, how.seconds),
                                     {part, fmt::format("{} rows/s", rate), who.name}, into);
        }
    } catch (const std::exception& failure) {
        into.note(who.name + " failed: " + failure.what());
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
    std::vector<contender> found;
    for (const peer& each : std::vector<peer>{
             {"poller 5 s", "pgoutput", {"poller.mjs", "--interval", "5000"}, true},
             {"poller 100 ms", "pgoutput", {"poller.mjs", "--interval", "100"}, true},
             {"npm log tail pgoutput", "pgoutput", {"log-tail.mjs", "--plugin", "pgoutput"}},
             {"npm log tail wal2json", "wal2json", {"log-tail.mjs", "--plugin", "wal2json"}}}) {
        found.push_back(contender_of(each, folder));
    }
    return found;
}

void measure_peers(const peers_options& how, const programs& with, results& into) {
    bed on(with);
    constexpr std::uint64_t body_bytes = 300;
    on.calibrate(body_bytes);
    std::vector<contender> all;
    for (const auto& plugin : how.plugins) {
        all.push_back(relay_contender(plugin));
    }
    all.insert(all.end(), how.peers.begin(), how.peers.end());
    for (int repetition = 1; repetition <= how.repetitions; ++repetition) {
        for (const auto& who : all) {
            measure_one(who, on, how, into);
        }
    }
}

}  // namespace walrelay::bench
