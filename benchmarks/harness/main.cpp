// The harness: measures what the command line names, one step after the other, and gives out what
// it has found as tables, as JSON and as plots. `./dev bench` builds and starts it.

#include "harness/options.hpp"
#include "harness/plots.hpp"
#include "harness/programme.hpp"
#include "harness/progress.hpp"
#include "harness/report.hpp"

#include <cmath>
#include <exception>
#include <fstream>

namespace {

using namespace walrelay::bench;

int minutes_of(std::chrono::seconds time) {
    constexpr double seconds_in_minute = 60;
    return static_cast<int>(std::ceil(static_cast<double>(time.count()) / seconds_in_minute));
}

/// Returns false if it failed.
bool run(const step& next, results& found) {
    const auto start = std::chrono::steady_clock::now();
    say("{}: about {} min", next.name, minutes_of(next.takes));
    try {
        next.measure(found);
    } catch (const std::exception& failure) {
        say("{} failed: {}", next.name, failure.what());
        found.note(next.name + " failed: " + failure.what());
        return false;
    }
    const auto took = std::chrono::steady_clock::now() - start;
    say("{}: done after {} s", next.name,
        std::chrono::duration_cast<std::chrono::seconds>(took).count());
    return true;
}

bool measure_all(const options& chosen, report& result) {
    if (!chosen.results_file.empty()) {
        result.found.on_repetition([&] { save(result, chosen.results_file); });
    }
    const auto steps = steps_of(chosen);
    std::chrono::seconds all{0};
    for (const auto& each : steps) {
        all += each.takes;
    }
    say("About {} minutes on two cores. What is done when you stop it is {}.", minutes_of(all),
        chosen.results_file.empty() ? "lost without --results" : "in " + chosen.results_file);
    bool whole = true;
    for (const auto& each : steps) {
        whole = run(each, result.found) && whole;
    }
    return whole;
}

void write(const options& chosen, const report& result) {
    fmt::print("{}", text_of(result, table_form::text));
    if (!chosen.results_file.empty()) {
        save(result, chosen.results_file);
    }
    if (!chosen.markdown_file.empty()) {
        std::ofstream out(chosen.markdown_file);
        out << text_of(result, table_form::markdown);
        if (!out.flush()) {
            throw std::runtime_error("cannot write " + chosen.markdown_file);
        }
    }
    if (!chosen.plots_folder.empty()) {
        draw(result.found, chosen.plots_folder);
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
        report result;
        for (const auto& file : chosen->earlier_files) {
            add_file(result, file);
        }
        bool whole = true;
        if (!chosen->parts.empty()) {
            add_facts(result, machine_and_versions(chosen->walrelay, chosen->source));
            whole = measure_all(*chosen, result);
        }
        write(*chosen, result);
        return whole ? 0 : 1;
    } catch (const std::exception& failure) {
        fmt::print(stderr, "bench: {}\n", failure.what());
        return 1;
    }
}
