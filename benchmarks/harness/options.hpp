// What the command line of the harness asks for.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::bench {

struct options {
    std::vector<std::string> parts;
    std::vector<std::string> plugins = {"pgoutput", "wal2json"};
    std::uint64_t rows = 1'000'000;
    int repetitions = 5;
    /// Of `latency`: rows per second, and for how long.
    std::vector<std::uint64_t> rates = {100, 1000, 10000};
    std::uint64_t seconds = 10;
    /// Of `growth`: sizes of the backlog, the smallest first.
    std::vector<std::uint64_t> growth = {100'000, 10'000'000};
    bool quick = false;
    /// Of `drain`: the 300 B case alone.
    bool main_case_only = false;
    std::string results_file;
    std::string plots_folder;
    std::filesystem::path walrelay;
    std::filesystem::path publisher;
    std::filesystem::path source = ".";

    [[nodiscard]] std::filesystem::path peers_folder() const {
        return source / "benchmarks" / "peers";
    }
};

/// Nothing if the program is to end at once, with the exit code in `exit_code`.
[[nodiscard]] std::optional<options> read_options(int count, char** values, int& exit_code);

/// Roughly, for people who wonder whether to wait.
[[nodiscard]] int estimated_minutes(const options& chosen);

}  // namespace walrelay::bench
