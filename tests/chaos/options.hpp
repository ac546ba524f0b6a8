// The command line of walrelay_chaos, and the runs that it stands for.
#pragma once

#include "chaos/scenario.hpp"
#include "chaos/trial.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::chaos {

struct chaos_options {
    std::filesystem::path relay_program;
    std::vector<std::string> faults;
    std::optional<std::uint64_t> times;
    std::optional<std::uint64_t> rows;
    unsigned writers = 4;
    std::uint64_t rows_per_second = 2000;
    std::string plugin = "both";
    std::uint64_t seed = 0;
    std::filesystem::path nats_server;
    std::vector<std::filesystem::path> other_nats_servers;
    /// Folders of the programs.
    std::vector<std::filesystem::path> other_postgres;
    std::filesystem::path markdown;
    std::filesystem::path logs = "chaos-logs";
    bool list = false;
    bool short_form = false;
    bool long_form = false;
    bool rest_form = false;
    /// Where the results go as well, and are taken from when a run is taken up again.
    std::filesystem::path results;
    /// As it was typed, with the seed.
    std::string command;
};

/// An exit code in place of the options where the program has nothing more to do.
struct read_options {
    chaos_options chosen;
    std::optional<int> exit_code;
};

[[nodiscard]] read_options read_command_line(int count, char** words);

struct planned_run {
    const scenario* what = nullptr;
    storm_plan plan;
    /// Empty is the one in the PATH.
    std::filesystem::path nats_server{};
};

/// As their programs tell them.
struct server_versions {
    std::string broker;
    std::string postgres;
};

/// Throws std::runtime_error for a fault that is not in `all`, which must outlive the result.
[[nodiscard]] std::vector<planned_run> plan_runs(const chaos_options& chosen,
                                                 const std::vector<scenario>& all);

}  // namespace walrelay::chaos
