// What each part of a publish costs the broker: the bare publisher sends walrelay's messages as
// they are, and again with one part left out or changed, in turn. Compared is the processor time of
// all the broker's servers for a message.
#pragma once

#include "harness/cluster.hpp"
#include "harness/results.hpp"

#include <cstddef>

namespace walrelay::bench {

/// How many ways to publish are compared.
[[nodiscard]] std::size_t publish_part_count();

/// `how.plugins` does not count: nothing is decoded.
void measure_publish_parts(const cluster_options& how, const programs& with, results& into);

}  // namespace walrelay::bench
