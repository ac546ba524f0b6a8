// The harness: measures what the command line names, one part after the other, and gives out what
// it has found as tables, as JSON and as plots. `./dev bench` builds and starts it.

#include "harness/cost.hpp"
#include "harness/drain.hpp"
#include "harness/latency.hpp"
#include "harness/machine.hpp"
#include "harness/options.hpp"
#include "harness/peers.hpp"
#include "harness/plots.hpp"
#include "harness/progress.hpp"
#include "harness/restart.hpp"
#include "harness/results.hpp"
#include "harness/tables.hpp"

#include <nlohmann/json.hpp>

#include <exception>
#include <fstream>

namespace {

using namespace walrelay::bench;

/// Everything of one part; throws where it fails.
void measure_part(const std::string& part, const options& chosen, results& into) {
    const programs with{.walrelay = chosen.walrelay, .publisher = chosen.publisher};
    const drain_options draining{.plugins = chosen.plugins, .repetitions = chosen.repetitions};
    if (part == "drain") {
        auto scenarios = drain_scenarios(chosen.rows);
        scenarios.resize(chosen.main_case_only ? 1 : scenarios.size());
        for (const auto& scenario : scenarios) {
            measure_drain(scenario, draining, with, into);
        }
    } else if (part == "latency") {
        measure_latency({.plugins = chosen.plugins,
                         .rates = chosen.rates,
                         .seconds = chosen.seconds,
                         .repetitions = chosen.repetitions},
                        with, into);
    } else if (part == "cost") {
        measure_cost({.plugins = chosen.plugins,
                      .peers = find_peers(chosen.peers_folder(), into),
                      .seconds = chosen.seconds,
                      .repetitions = chosen.repetitions},
                     with, into);
    } else if (part == "restart") {
        measure_restart(
            {.plugins = chosen.plugins, .rows = chosen.rows, .repetitions = chosen.repetitions},
            with, into);
    } else if (part == "peers") {
        measure_peers({.plugins = chosen.plugins,
                       .peers = find_peers(chosen.peers_folder(), into),
                       .rows = std::min<std::uint64_t>(chosen.rows, 200'000),
                       .rates = chosen.quick ? std::vector<std::uint64_t>{10}
                                             : std::vector<std::uint64_t>{10, 1000},
                       .seconds = 2 * chosen.seconds,
                       .repetitions = chosen.repetitions},
                      with, into);
    } else if (part == "growth") {
        auto without_limit = draining;
        without_limit.with_limit = false;
        measure_growth(chosen.growth, without_limit, with, into);
    }
}

nlohmann::json as_json(const facts& about) {
    auto object = nlohmann::json::object();
    for (const auto& [name, value] : about) {
        object[name] = value;
    }
    return object;
}

void print(const facts& about, const results& found) {
    for (const auto& [name, value] : about) {
        fmt::print("{:<12}{}\n", name, value);
    }
    for (const auto& part : found.parts()) {
        fmt::print("\n{}", table_of(found, part));
    }
    for (const auto& note : found.notes()) {
        fmt::print("\n{}\n", note);
    }
}

void save(const std::string& file, const facts& about, const results& found) {
    std::ofstream out(file);
    const nlohmann::json content = {
        {"about", as_json(about)}, {"notes", found.notes()}, {"figures", found.to_json()}};
    out << content.dump(2) << '\n';
    if (!out.flush()) {
        throw std::runtime_error("cannot write " + file);
    }
}

/// What is done is kept after each part: a full run is long. Returns false if a part failed.
bool measure_all(const options& chosen, const facts& about, results& found) {
    bool whole = true;
    for (const auto& part : chosen.parts) {
        try {
            measure_part(part, chosen, found);
        } catch (const std::exception& failure) {
            whole = false;
            say("bench: {} failed: {}", part, failure.what());
            found.note(part + " failed: " + failure.what());
        }
        if (!chosen.results_file.empty()) {
            save(chosen.results_file, about, found);
        }
    }
    return whole;
}

}  // namespace

int main(int argc, char** argv) {
    int exit_code = 0;
    const auto chosen = read_options(argc, argv, exit_code);
    if (!chosen) {
        return exit_code;
    }
    try {
        const auto about = machine_and_versions(chosen->walrelay, chosen->source);
        say("About {} minutes on two cores.", estimated_minutes(*chosen));
        results found;
        const bool whole = measure_all(*chosen, about, found);
        print(about, found);
        if (!chosen->plots_folder.empty()) {
            draw(found, chosen->plots_folder);
        }
        return whole ? 0 : 1;
    } catch (const std::exception& failure) {
        fmt::print(stderr, "bench: {}\n", failure.what());
        return 1;
    }
}
