// Leaves the relay between real servers for a long time, with everything going on around it that
// has nothing to do with it, and judges every second. `./dev chaos soak` builds and runs it.
#include "chaos/program_version.hpp"
#include "soak/soak_run.hpp"

#include <CLI/CLI.hpp>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace walrelay::soak {
namespace {

struct soak_options {
    std::filesystem::path relay_program;
    std::string plugin = "both";
    double minutes = 30;
    std::uint64_t rows_per_second = 120;
    std::uint64_t seed = std::random_device{}();
    std::uint64_t wait_milliseconds = 2000;
    std::filesystem::path markdown = "soak.md";
    std::filesystem::path logs = "soak-logs";
    bool short_form = false;
    bool canary = false;
};

void describe(CLI::App& app, soak_options& chosen) {
    app.add_option("--walrelay", chosen.relay_program, "the program")->required();
    app.add_option("--plugin", chosen.plugin, "pgoutput, wal2json, or half of the time for each")
        ->check(CLI::IsMember({"pgoutput", "wal2json", "both"}));
    app.add_option("--minutes", chosen.minutes, "how long")->check(CLI::PositiveNumber);
    app.add_option("--rate", chosen.rows_per_second, "rows in a second, of all writers together")
        ->check(CLI::PositiveNumber);
    app.add_option("--seed", chosen.seed, "repeats what chance decided in an earlier run");
    app.add_option("--limit", chosen.wait_milliseconds,
                   "milliseconds that a row may wait for what has nothing to do with it");
    app.add_option("--markdown", chosen.markdown, "where the table goes as well");
    app.add_option("--logs", chosen.logs, "where the logs of a run that fails are kept");
    app.add_flag("--short", chosen.short_form, "everything in 80 seconds");
    app.add_flag("--canary", chosen.canary,
                 "walrelay stands still once; passes only if the judge sees it");
}

void say(const std::string& line) {
    fmt::print("{}\n", line);
    std::fflush(stdout);
}

limits bounds_of(const soak_options& chosen) {
    limits bounds;
    bounds.wait = std::chrono::milliseconds(chosen.wait_milliseconds);
    bounds.stand = std::max(bounds.stand, bounds.wait);
    return bounds;
}

std::vector<soak_plan> plans_of(const soak_options& chosen) {
    const std::vector<std::string> plugins = chosen.plugin == "both"
                                                 ? std::vector<std::string>{"pgoutput", "wal2json"}
                                                 : std::vector<std::string>{chosen.plugin};
    constexpr double short_minutes = 1.2;
    const auto minutes = chosen.short_form ? short_minutes : chosen.minutes;
    const std::chrono::duration<double, std::ratio<60>> each(minutes /
                                                             static_cast<double>(plugins.size()));
    std::vector<soak_plan> plans;
    for (const auto& plugin : plugins) {
        // What the other plugin sees first this one sees later.
        constexpr std::size_t half_of_the_restarts = 3;
        plans.push_back({.relay_program = std::filesystem::absolute(chosen.relay_program),
                         .plugin = plugin,
                         .duration = std::chrono::duration_cast<std::chrono::seconds>(each),
                         .how = chosen.short_form ? short_pace() : usual_pace(),
                         .rows_per_second = chosen.rows_per_second,
                         .seed = chosen.seed,
                         .first_restart = plugin == "wal2json" ? half_of_the_restarts : 0,
                         .bounds = bounds_of(chosen),
                         .canary = chosen.canary,
                         .logs = std::filesystem::absolute(chosen.logs)});
    }
    return plans;
}

std::string headline(const soak_options& chosen, const soak_outcome& outcome) {
    const char* broker = std::getenv("WALRELAY_TEST_NATS_SERVER");
    return fmt::format(
        "{}: {} messages of rows in {} s, {:%Y-%m-%d}, PostgreSQL {}, nats-server {}, {} "
        "processors, "
        "seed {}: {}\n\n",
        outcome.plugin, outcome.found.waits.size(), outcome.took.count(),
        fmt::gmtime(std::time(nullptr)), chaos::postgres_version_of({}),
        chaos::version_of(broker != nullptr ? broker : "nats-server"),
        std::thread::hardware_concurrency(), chosen.seed, outcome.passed() ? "passed" : "FAILED");
}

int run(const soak_options& chosen) {
    say(fmt::format("seed {}", chosen.seed));
    bool passed = true;
    std::string report;
    for (const auto& plan : plans_of(chosen)) {
        const auto outcome = run_soak(plan, say);
        const auto wrong = to_text(outcome);
        auto part = headline(chosen, outcome) + to_markdown(outcome);
        if (!wrong.empty()) {
            part += "\n```\n" + wrong + "```\n";
        }
        say(part);
        report += part + "\n";
        passed = passed && (chosen.canary ? !outcome.found.late.empty() : outcome.passed());
    }
    std::ofstream(chosen.markdown) << report;
    return passed ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace walrelay::soak

int main(int count, char** words) {
    constexpr int wrong_usage = 2;
    try {
        walrelay::soak::soak_options chosen;
        CLI::App app("Lets everything go on around walrelay that has nothing to do with it.");
        walrelay::soak::describe(app, chosen);
        try {
            app.parse(count, words);
        } catch (const CLI::ParseError& problem) {
            return app.exit(problem) == 0 ? 0 : wrong_usage;
        }
        return walrelay::soak::run(chosen);
    } catch (const std::exception& failure) {
        fmt::print(stderr, "walrelay_soak: {}\n", failure.what());
        return wrong_usage;
    }
}
