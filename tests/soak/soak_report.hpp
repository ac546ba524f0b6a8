// What a soak found, for people: a table of all disturbances, and what was going on when a row
// waited too long.
#pragma once

#include "soak/judge.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace walrelay::soak {

/// Of one run with one plugin.
struct soak_outcome {
    std::string plugin;
    std::chrono::seconds took{0};
    evidence all;
    findings found;
    limits bounds;
    /// What else was wrong, one sentence each.
    std::vector<std::string> complaints;

    [[nodiscard]] bool passed() const;
};

/// Markdown: a line for each kind of disturbance, then the warnings of the relay by kind.
[[nodiscard]] std::string to_markdown(const soak_outcome& outcome);
/// Everything that is wrong; empty if nothing is.
[[nodiscard]] std::string to_text(const soak_outcome& outcome);

}  // namespace walrelay::soak
