// The harness: measures what the command line names, one part after the other, and gives out what
// it has found as tables, as JSON and as plots. `./dev bench` builds and starts it.

#include "harness/cost.hpp"
#include "harness/drain.hpp"
#include "harness/latency.hpp"
#include "harness/machine.hpp"
#include "harness/options.hpp"
#include "harness/progress.hpp"
#include "harness/restart.hpp"
#include "harness/results.hpp"
#include "harness/tables.hpp"

#include <nlohmann/json.hpp>

#include <exception>
#include <fstream>

namespace {

using namespace walrelay::bench;

void measure(const options& chosen, const programs& with, results& into) {
    const drain_options how{.plugins = chosen.plugins, .repetitions = chosen.repetitions};
    if (chosen.wants("drain")) {
        measure_drain("drain", {.name = "300 B", .rows = {.rows = chosen.rows}}, how, with, into);
    }
    if (chosen.wants("latency")) {
        measure_latency({.plugins = chosen.plugins,
                         .rates = chosen.rates,
                         .seconds = chosen.seconds,
                         .repetitions = chosen.repetitions},
                        with, into);
    }
    if (chosen.wants("cost")) {
        measure_cost({.plugins = chosen.plugins,
                      .peers = {},
                      .seconds = chosen.seconds,
                      .repetitions = chosen.repetitions},
                     with, into);
    }
    if (chosen.wants("restart")) {
        measure_restart(
            {.plugins = chosen.plugins, .rows = chosen.rows, .repetitions = chosen.repetitions},
            with, into);
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

}  // namespace

int main(int argc, char** argv) {
    int exit_code = 0;
    const auto chosen = read_options(argc, argv, exit_code);
    if (!chosen) {
        return exit_code;
    }
    try {
        const auto about = machine_and_versions(chosen->walrelay, chosen->source);
        results found;
        measure(*chosen, {.walrelay = chosen->walrelay, .publisher = chosen->publisher}, found);
        print(about, found);
        if (!chosen->results_file.empty()) {
            save(chosen->results_file, about, found);
        }
        return 0;
    } catch (const std::exception& failure) {
        fmt::print(stderr, "bench: {}\n", failure.what());
        return 1;
    }
}
