// The table that a run ends with.
#pragma once

#include "chaos/audit.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace walrelay::chaos {

struct outcome {
    std::string fault;
    std::string plugin;
    /// The version of nats-server.
    std::string broker{};
    /// The version of PostgreSQL.
    std::string postgres{};
    std::uint64_t times = 0;
    verdict found{};
    std::chrono::milliseconds longest_recovery{0};
    std::chrono::milliseconds middle_recovery{0};
    /// Longer is a failure.
    std::chrono::seconds recovery_limit{10};
    /// For faults that the relay cannot fix: how it said so. Then rows may be missing, and nothing
    /// else may be wrong. Empty for the others.
    std::string reported{};
    /// What was wrong beside the verdict.
    std::vector<std::string> complaints{};
    /// Where the logs were kept; empty if they were not.
    std::string logs{};
    std::chrono::seconds took{0};

    [[nodiscard]] bool passed() const;
};

struct table_head {
    std::uint64_t seed = 0;
    std::string postgres_version;
    /// What repeats the run.
    std::string command;
};

/// One line for people, as a scenario ends.
[[nodiscard]] std::string to_line(const outcome& result);
/// Markdown: the date, the versions and the machine, then one line for each outcome.
[[nodiscard]] std::string to_markdown(const table_head& head, const std::vector<outcome>& results);

}  // namespace walrelay::chaos
