// Drains into one server and into three replicas, with each nats-server that there is: walrelay at
// the server that leads the stream and at another one, beside the limit, whose publisher is at the
// leader. What it costs the broker is the processor time of all its servers.
#pragma once

#include "harness/bed.hpp"
#include "harness/results.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace walrelay::bench {

struct cluster_options {
    /// Programs; an empty one is that of the tests.
    std::vector<std::string> nats_servers = {""};
    std::vector<std::size_t> replicas = {1, 3};
    std::vector<std::string> plugins;
    std::uint64_t rows = 1'000'000;
    int repetitions = 5;
};

/// "nats-server 2.9.10, 3 replicas".
[[nodiscard]] std::string name_of(const broker_kind& kind);

/// Every server of `how`, with each number of replicas.
[[nodiscard]] std::vector<broker_kind> broker_kinds(const cluster_options& how);

void measure_cluster(const cluster_options& how, const programs& with, results& into);

}  // namespace walrelay::bench
