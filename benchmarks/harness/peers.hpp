// Walrelay beside other ways to do its work: the programs of benchmarks/peers, and wal-listener
// where it is there. Throughput of a backlog; at a rate that all of them can follow and at 1,000
// rows/s latency, processor time and statements that the database has to serve.
#pragma once

#include "harness/contender.hpp"
#include "harness/results.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace walrelay::bench {

/// Those that can run here; where Node.js or their packages are not there, none, and a note.
/// `folder` is that of the peers.
[[nodiscard]] std::vector<contender> find_peers(const std::filesystem::path& folder, results& into);

struct peers_options {
    /// Who has not drained the backlog by then is measured by what he has done.
    static constexpr std::chrono::seconds drain_limit{30};

    std::vector<std::string> plugins;
    std::vector<contender> peers;
    std::uint64_t rows = 500'000;
    std::vector<std::uint64_t> rates = {10, 1000};
    std::uint64_t seconds = 10;
    int repetitions = 5;
};

void measure_peers(const peers_options& how, const programs& with, results& into);

}  // namespace walrelay::bench
