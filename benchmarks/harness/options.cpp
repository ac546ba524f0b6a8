#include "harness/options.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>

namespace walrelay::bench {
namespace {

const std::vector<std::string> known_parts = {"drain", "latency", "cost", "restart"};

/// Small enough to be done in three minutes.
void shrink(options& chosen) {
    chosen.rows = std::min<std::uint64_t>(chosen.rows, 200'000);
    chosen.repetitions = std::min(chosen.repetitions, 2);
    chosen.rates = {1000};
    chosen.seconds = 5;
    chosen.main_case_only = true;
}

}  // namespace

bool options::wants(const std::string& part) const {
    return parts.empty() || std::find(parts.begin(), parts.end(), part) != parts.end();
}

std::optional<options> read_options(int count, char** values, int& exit_code) {
    CLI::App app("Measures walrelay on servers of its own", "./dev bench");
    options chosen;
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
    app.add_flag("--quick", chosen.quick, "Small cases, done in three minutes");
    app.add_flag("--main-case", chosen.main_case_only, "Of drain, the case of 300 B alone");
    app.add_option("--results", chosen.results_file, "Write every figure to FILE as JSON");
    app.add_option("--plots", chosen.plots_folder, "Draw the figures into FOLDER as SVG");
    app.add_option("--walrelay", chosen.walrelay, "The program")->required()->group("");
    app.add_option("--publisher", chosen.publisher, "The program")->required()->group("");
    app.add_option("--source", chosen.source, "The source code")->group("");
    try {
        app.parse(count, values);
    } catch (const CLI::ParseError& reason) {
        exit_code = app.exit(reason);
        return std::nullopt;
    }
    // They are started in a folder of their own.
    chosen.walrelay = std::filesystem::absolute(chosen.walrelay);
    chosen.publisher = std::filesystem::absolute(chosen.publisher);
    chosen.source = std::filesystem::absolute(chosen.source);
    if (chosen.quick) {
        shrink(chosen);
    }
    return chosen;
}

}  // namespace walrelay::bench
