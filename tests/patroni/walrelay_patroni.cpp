// Runs real clusters that Patroni keeps, under a relay and its standby, and judges what is in the
// stream afterwards. `./dev chaos patroni` builds and runs it.
#include "chaos/program_version.hpp"
#include "patroni/patroni_cases.hpp"
#include "support/postgres_server.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>

namespace walrelay::patroni {
namespace {

struct run_options {
    std::filesystem::path relay_program;
    std::filesystem::path patroni_programs;
    std::filesystem::path logs;
    std::vector<std::filesystem::path> postgres_programs;
    std::vector<std::string> cases;
    std::string plugin = "pgoutput";
    unsigned rounds = 2;
    bool list = false;
};

void say(const std::string& line) {
    fmt::print("{}\n", line);
    std::fflush(stdout);
}

std::string line_of(const patroni_case& what, const std::string& version, const verdict& found,
                    std::chrono::seconds took) {
    return fmt::format(
        "{:<20} {:<6} {:<7} {} rows, {} missing, {} twice, {} out of order, {} lost by the "
        "database, {}, {} s",
        what.name, version, found.complaints.empty() ? "ok" : "FAILED", found.rows, found.missing,
        found.twice, found.out_of_order, found.lost_by_database,
        found.halt ? (found.missing == 0 ? "halted and healed" : "halted") : "no halt",
        took.count());
}

bool run_case(const patroni_case& what, const run_options& chosen,
              const std::filesystem::path& programs) {
    constexpr int first_with_failover_slots = 17;
    const auto version = chaos::postgres_version_of(programs);
    const bool failover_slots = chaos::major_version(version) >= first_with_failover_slots;
    if (failover_slots && what.only_before_17) {
        return true;
    }
    const auto started = std::chrono::steady_clock::now();
    verdict found;
    std::unique_ptr<patroni_trial> one;
    try {
        one = std::make_unique<patroni_trial>(
            trial_options{.relay_program = chosen.relay_program,
                          .cluster = {.patroni_programs = chosen.patroni_programs,
                                      .postgres_programs = programs,
                                      .plugin = chosen.plugin,
                                      .failover_slots = failover_slots,
                                      .without_copies = what.without_copies},
                          .rounds = chosen.rounds});
        what.fire(*one);
        found = one->judge();
    } catch (const std::exception& failure) {
        found.complaints.emplace_back(failure.what());
    }
    const auto took = std::chrono::duration_cast<std::chrono::seconds>(
        std::chrono::steady_clock::now() - started);
    say(line_of(what, version, found, took));
    if (found.halt) {
        say("    " + *found.halt);
    }
    for (const auto& complaint : found.complaints) {
        say("    " + complaint);
    }
    if (!found.complaints.empty() && one) {
        const auto where = chosen.logs / (what.name + "-" + version);
        one->keep_logs(where);
        say("    logs: " + where.string());
    }
    return found.complaints.empty();
}

int run_all(const run_options& chosen) {
    bool passed = true;
    for (const auto& each : all_cases()) {
        const bool wanted = chosen.cases.empty() ||
                            std::count(chosen.cases.begin(), chosen.cases.end(), each.name) > 0;
        for (const auto& programs : chosen.postgres_programs) {
            passed = (!wanted || run_case(each, chosen, programs)) && passed;
        }
    }
    return passed ? EXIT_SUCCESS : EXIT_FAILURE;
}

int run(int count, char** words) {
    run_options chosen;
    CLI::App app("Real clusters that Patroni keeps, under a relay and its standby.");
    app.add_option("--walrelay", chosen.relay_program)->required();
    app.add_option("--patroni", chosen.patroni_programs, "folder of its programs")->required();
    app.add_option("--postgres", chosen.postgres_programs, "folders of programs, with commas")
        ->delimiter(',');
    app.add_option("--case", chosen.cases, "only these, with commas")->delimiter(',');
    app.add_option("--plugin", chosen.plugin, "pgoutput or wal2json");
    app.add_option("--rounds", chosen.rounds, "so often each fault that can be repeated");
    app.add_option("--logs", chosen.logs, "where logs of a failure are kept");
    app.add_flag("--list", chosen.list, "say what there is");
    CLI11_PARSE(app, count, words);
    if (chosen.list) {
        for (const auto& each : all_cases()) {
            say(fmt::format("{:<20} {}", each.name, each.what));
        }
        return EXIT_SUCCESS;
    }
    chosen.relay_program = std::filesystem::absolute(chosen.relay_program);
    chosen.patroni_programs = std::filesystem::absolute(chosen.patroni_programs);
    for (auto& programs : chosen.postgres_programs) {
        programs = std::filesystem::absolute(programs);
    }
    if (chosen.postgres_programs.empty()) {
        chosen.postgres_programs.push_back(test::postgres_binary_folder());
    }
    return run_all(chosen);
}

}  // namespace
}  // namespace walrelay::patroni

int main(int count, char** words) {
    try {
        return walrelay::patroni::run(count, words);
    } catch (const std::exception& failure) {
        fmt::print(stderr, "walrelay_patroni: {}\n", failure.what());
        constexpr int wrong_usage = 2;
        return wrong_usage;
    }
}
