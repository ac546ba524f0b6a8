// What the command line of the harness asks for.
#pragma once

#include "harness/bed.hpp"

#include <algorithm>
#include <cstddef>
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
    /// Of `cluster` and `publish`: programs besides the installed one.
    std::vector<std::string> nats_servers;
    std::vector<std::size_t> replicas = {1, 3};
    /// Of `growth`: sizes of the backlog, the smallest first.
    std::vector<std::uint64_t> growth = {100'000, 10'000'000};
    /// Of `drain`: keys of its cases; all of them where there are none.
    std::vector<std::string> cases;
    bool quick = false;
    /// Results of earlier runs, to be shown together with those of this one.
    std::vector<std::string> earlier_files;
    std::string results_file;
    std::string markdown_file;
    std::string plots_folder;
    std::filesystem::path walrelay;
    /// Of `drain`.
    std::vector<other_build> others;
    std::filesystem::path publisher;
    std::filesystem::path source = ".";
    /// Of `peers`; empty where it is not there.
    std::filesystem::path wal_listener;

    [[nodiscard]] bool wants_case(const std::string& key) const {
        return cases.empty() || std::find(cases.begin(), cases.end(), key) != cases.end();
    }
    [[nodiscard]] std::filesystem::path peers_folder() const {
        return source / "benchmarks" / "peers";
    }
};

/// Nothing if the program is to end at once, with the exit code in `exit_code`. No parts are left
/// where nothing is to be measured.
[[nodiscard]] std::optional<options> read_options(int count, char** values, int& exit_code);

}  // namespace walrelay::bench
