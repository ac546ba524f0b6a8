#include "harness/options.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <numeric>

namespace walrelay::bench {
namespace {

const std::vector<std::string> known_parts = {"drain",   "latency", "cost",
                                              "restart", "peers",   "growth"};

/// Small enough to be done in three minutes, where the command line does not ask for more.
void shrink(options& chosen, const CLI::App& given) {
    const auto untold = [&](const char* name) { return given.count(name) == 0; };
    if (untold("parts")) {
        chosen.parts = {"drain", "latency", "cost", "restart", "peers"};
    }
    chosen.rows = untold("--rows") ? 100'000 : chosen.rows;
    chosen.repetitions = untold("--repetitions") ? 1 : chosen.repetitions;
    chosen.seconds = untold("--seconds") ? 3 : chosen.seconds;
    if (untold("--rates")) {
        chosen.rates = {1000};
    }
    if (untold("--growth")) {
        chosen.growth = {100'000, 400'000};
    }
    chosen.main_case_only = true;
}

void make_absolute(options& chosen) {
    // They are started in folders of their own.
    for (auto* path : {&chosen.walrelay, &chosen.publisher, &chosen.source}) {
        *path = std::filesystem::absolute(*path);
    }
    if (!chosen.plots_folder.empty()) {
        chosen.plots_folder = std::filesystem::absolute(chosen.plots_folder).string();
    }
}

void declare(CLI::App& app, options& chosen) {
    app.add_option("parts", chosen.parts, "What to measure; all of it without")
        ->check(CLI::IsMember(known_parts));
    app.add_option("--rows", chosen.rows, "Rows of a drain, at most")->capture_default_str();
    app.add_option("--repetitions", chosen.repetitions, "The figures are medians of so many")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    app.add_option("--plugin", chosen.plugins, "pgoutput, wal2json")
        ->check(CLI::IsMember({"pgoutput", "wal2json"}))
        ->capture_default_str();
    app.add_option("--rates", chosen.rates, "Rows per second of latency")->capture_default_str();
    app.add_option("--seconds", chosen.seconds, "How long each rate is kept up")
        ->check(CLI::Range(2, 3600))
        ->capture_default_str();
    app.add_option("--growth", chosen.growth, "Sizes of the backlog of growth, smallest first")
        ->capture_default_str();
    app.add_flag("--quick", chosen.quick, "Small cases, done in three minutes");
    app.add_flag("--main-case", chosen.main_case_only, "Of drain, the case of 300 B alone");
    app.add_option("--results", chosen.results_file, "Write every figure to FILE as JSON");
    app.add_option("--plots", chosen.plots_folder, "Draw the figures into FOLDER as SVG");
    app.add_option("--walrelay", chosen.walrelay, "The program")->required()->group("");
    app.add_option("--publisher", chosen.publisher, "The program")->required()->group("");
    app.add_option("--source", chosen.source, "The source code")->group("");
}

/// Of one repetition of a part, with every plugin.
double seconds_of(const std::string& part, const options& chosen) {
    constexpr double rows_per_second = 50'000;
    constexpr double overhead_seconds = 3;
    const auto plugins = static_cast<double>(chosen.plugins.size());
    const auto seconds = static_cast<double>(chosen.seconds);
    const double drain = static_cast<double>(chosen.rows) / rows_per_second + overhead_seconds;
    if (part == "drain") {
        constexpr double scenarios = 6;  // two of the eight have fewer rows
        return drain * 2 * plugins * (chosen.main_case_only ? 1 : scenarios);
    }
    if (part == "latency") {
        return (seconds + overhead_seconds) * 2 * plugins *
               static_cast<double>(chosen.rates.size());
    }
    constexpr double peers = 4;
    if (part == "cost") {
        return (seconds + overhead_seconds) * (1 + 3 * (2 * plugins + peers));
    }
    if (part == "peers") {
        return (4 * seconds + 3 * overhead_seconds + 15) * (plugins + peers);
    }
    if (part == "restart") {
        return drain * plugins;
    }
    const auto rows = std::accumulate(chosen.growth.begin(), chosen.growth.end(), std::uint64_t{0});
    return static_cast<double>(rows) / rows_per_second * plugins;
}

}  // namespace

int estimated_minutes(const options& chosen) {
    constexpr double seconds_in_minute = 60;
    double seconds = 0;
    for (const auto& part : chosen.parts) {
        // What a part needs before its first repetition takes about as long as one.
        seconds += seconds_of(part, chosen) * (chosen.repetitions + 1);
    }
    return static_cast<int>(seconds / seconds_in_minute) + 1;
}

std::optional<options> read_options(int count, char** values, int& exit_code) {
    CLI::App app("Measures walrelay on servers of its own", "./dev bench");
    options chosen;
    declare(app, chosen);
    try {
        app.parse(count, values);
    } catch (const CLI::ParseError& reason) {
        exit_code = app.exit(reason);
        return std::nullopt;
    }
    make_absolute(chosen);
    if (chosen.quick) {
        shrink(chosen, app);
    }
    if (chosen.parts.empty()) {
        chosen.parts = known_parts;
    }
    return chosen;
}

}  // namespace walrelay::bench
