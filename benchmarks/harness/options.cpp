#include "harness/options.hpp"

#include "harness/drain.hpp"

#include <CLI/CLI.hpp>

namespace walrelay::bench {
namespace {

const std::vector<std::string> known_parts = {"drain",   "cluster", "publish", "latency", "cost",
                                              "restart", "scrapes", "replay",  "peers",   "growth"};

/// Small enough to be done in minutes, where the command line does not ask for more.
void shrink(options& chosen, const CLI::App& given) {
    const auto untold = [&](const char* name) { return given.count(name) == 0; };
    if (untold("parts")) {
        chosen.parts = {"drain", "latency", "cost", "restart", "scrapes", "replay"};
    }
    if (untold("--cases")) {
        chosen.cases = {drain_scenarios(1).front().key};
    }
    if (untold("--rates")) {
        chosen.rates = {1000};
    }
    if (untold("--growth")) {
        chosen.growth = {100'000, 400'000};
    }
    chosen.rows = untold("--rows") ? 100'000 : chosen.rows;
    chosen.repetitions = untold("--repetitions") ? 1 : chosen.repetitions;
    chosen.seconds = untold("--seconds") ? 2 : chosen.seconds;
}

std::vector<std::string> known_cases() {
    std::vector<std::string> keys;
    for (const auto& scenario : drain_scenarios(1)) {
        keys.push_back(scenario.key);
    }
    return keys;
}

void make_absolute(options& chosen) {
    // They are started in folders of their own.
    for (auto* path : {&chosen.walrelay, &chosen.publisher, &chosen.source, &chosen.wal_listener}) {
        *path = path->empty() ? *path : std::filesystem::absolute(*path);
    }
    for (auto& program : chosen.nats_servers) {
        program = std::filesystem::absolute(program).string();
    }
    if (!chosen.plots_folder.empty()) {
        chosen.plots_folder = std::filesystem::absolute(chosen.plots_folder).string();
    }
}

other_build build_in(const std::string& text) {
    const auto split = text.find('=');
    const std::filesystem::path program = split == std::string::npos ? "" : text.substr(split + 1);
    if (split == 0 || !std::filesystem::is_regular_file(program)) {
        throw CLI::ValidationError("--against", "\"" + text + "\" is not NAME=PROGRAM");
    }
    return {text.substr(0, split), std::filesystem::absolute(program)};
}

void declare(CLI::App& app, options& chosen) {
    app.add_option("parts", chosen.parts, "What to measure; all of it without")
        ->check(CLI::IsMember(known_parts));
    app.add_option("--rows", chosen.rows, "Rows of a drain, at most")->capture_default_str();
    app.add_option("--repetitions", chosen.repetitions, "The figures are medians of so many")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    app.add_option("--plugin", chosen.plugins, "pgoutput, wal2json")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(CLI::IsMember({"pgoutput", "wal2json"}))
        ->capture_default_str();
    app.add_option("--rates", chosen.rates, "Rows per second of latency")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->capture_default_str();
    app.add_option("--seconds", chosen.seconds, "How long each rate is kept up")
        ->check(CLI::Range(2, 3600))
        ->capture_default_str();
    app.add_option("--growth", chosen.growth, "Sizes of the backlog of growth, smallest first")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->capture_default_str();
    app.add_option("--cases", chosen.cases, "Of drain, these cases alone")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(CLI::IsMember(known_cases()));
    app.add_option("--nats-servers", chosen.nats_servers,
                   "Of cluster and publish, programs of nats-server besides the installed one")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(CLI::ExistingFile);
    app.add_option("--replicas", chosen.replicas, "Of cluster and publish: 1, 3")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(CLI::IsMember({1, 3}))
        ->capture_default_str();
    app.add_option_function<std::vector<std::string>>(
           "--against",
           [&chosen](const std::vector<std::string>& all) {
               for (const auto& each : all) {
                   chosen.others.push_back(build_in(each));
               }
           },
           "NAME=PROGRAM: of drain and cluster, another build of walrelay, measured in turn")
        ->allow_extra_args(false);
    app.add_option("--wal-listener", chosen.wal_listener,
                   "Of peers, this program of wal-listener beside the others")
        ->check(CLI::ExistingFile);
    app.add_flag("--quick", chosen.quick, "Small cases, done in three minutes");
    app.add_option("--results", chosen.results_file,
                   "Write every figure to FILE as JSON, after each repetition");
    app.add_option("--merge", chosen.earlier_files,
                   "Show the figures of these results too; without parts, measure nothing");
    app.add_option("--markdown", chosen.markdown_file, "Write the tables to FILE as Markdown");
    app.add_option("--plots", chosen.plots_folder, "Draw the figures into FOLDER as SVG");
    app.add_option("--walrelay", chosen.walrelay, "The program")->required()->group("");
    app.add_option("--publisher", chosen.publisher, "The program")->required()->group("");
    app.add_option("--source", chosen.source, "The source code")->group("");
}

}  // namespace

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
    if (chosen.parts.empty() && chosen.earlier_files.empty()) {
        chosen.parts = known_parts;
    }
    return chosen;
}

}  // namespace walrelay::bench
