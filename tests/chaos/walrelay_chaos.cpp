// Breaks what can break between a real PostgreSQL, a real nats-server and the relay, and judges
// what is in the stream afterwards. `./dev chaos` builds and runs it.
#include "chaos/cut_sweep.hpp"
#include "chaos/options.hpp"
#include "chaos/program_version.hpp"
#include "chaos/report.hpp"
#include "chaos/reported_scenarios.hpp"
#include "chaos/results_file.hpp"
#include "chaos/special_scenarios.hpp"
#include "chaos/storm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>

namespace walrelay::chaos {
namespace {

void say(const std::string& line) {
    fmt::print("{}\n", line);
    std::fflush(stdout);
}

std::vector<scenario> all_scenarios() {
    std::vector<scenario> all;
    for (const auto& group :
         {relay_scenarios(), postgres_scenarios(), broker_scenarios(), network_scenarios(),
          cluster_scenarios(), sweep_scenarios(), reported_scenarios(), special_scenarios(),
          position_scenarios(), failover_scenarios(), partition_scenarios(), replay_scenarios(),
          healing_scenarios()}) {
        all.insert(all.end(), group.begin(), group.end());
    }
    return all;
}

/// The tests' servers take the program from the environment.
std::string choose_broker(const std::filesystem::path& program) {
    if (program.empty()) {
        const char* chosen = std::getenv("WALRELAY_TEST_NATS_SERVER");
        return version_of(chosen != nullptr ? chosen : "nats-server");
    }
    const auto path = std::filesystem::absolute(program);
    setenv("WALRELAY_TEST_NATS_SERVER", path.c_str(), 1);
    return version_of(path);
}

outcome run_one(const planned_run& run, const server_versions& versions) {
    const auto started = std::chrono::steady_clock::now();
    auto result =
        run.what->run ? run.what->run(*run.what, run.plan) : run_storm(*run.what, run.plan);
    result.broker = versions.broker;
    result.postgres = versions.postgres;
    result.took = std::chrono::duration_cast<std::chrono::seconds>(
        std::chrono::steady_clock::now() - started);
    return result;
}

int run_all(const chaos_options& chosen, const std::vector<scenario>& all) {
    say("seed " + std::to_string(chosen.seed));
    results_file kept(chosen.results);
    bool passed = true;
    for (const auto& run : plan_runs(chosen, all)) {
        const server_versions versions{.broker = choose_broker(run.nats_server),
                                       .postgres = postgres_version_of(run.plan.postgres_programs)};
        if (!kept.has_passed(run, versions)) {
            auto result = run_one(run, versions);
            if (chosen.short_form) {
                result.recovery_limit = recovery_patience;
            }
            kept.add(run, result);
            say(to_line(result));
            passed = passed && result.passed();
        }
        if (!run.nats_server.empty()) {
            unsetenv("WALRELAY_TEST_NATS_SERVER");
        }
    }
    const auto table = to_markdown({.seed = chosen.seed,
                                    .postgres_version = postgres_version_of({}),
                                    .command = chosen.command},
                                   kept.results());
    say("\n" + table);
    if (!chosen.markdown.empty()) {
        std::ofstream(chosen.markdown) << table;
    }
    return passed ? EXIT_SUCCESS : EXIT_FAILURE;
}

int run(int count, char** words) {
    const auto options = read_command_line(count, words);
    if (options.exit_code) {
        return *options.exit_code;
    }
    const auto all = all_scenarios();
    if (options.chosen.list) {
        for (const auto& each : all) {
            say(fmt::format("{:<24} {}", each.name, each.what));
        }
        return EXIT_SUCCESS;
    }
    return run_all(options.chosen, all);
}

}  // namespace
}  // namespace walrelay::chaos

int main(int count, char** words) {
    try {
        return walrelay::chaos::run(count, words);
    } catch (const std::exception& failure) {
        fmt::print(stderr, "walrelay_chaos: {}\n", failure.what());
        constexpr int wrong_usage = 2;
        return wrong_usage;
    }
}
