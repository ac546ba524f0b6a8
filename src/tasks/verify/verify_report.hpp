// What walrelay verify prints: the counts, the findings and what to do about each kind of them.
#pragma once

#include "tasks/verify/verification.hpp"

#include <string>
#include <vector>

namespace walrelay::tasks {

/// `stream` and `slot` are their names, for the remedies.
struct verify_names {
    std::string stream;
    std::string slot;
    /// Of outboxes that are no tables, whose rows nothing but the WAL held.
    std::vector<std::string> message_prefixes = {};
};

[[nodiscard]] std::string text_of(const verify_outcome& outcome, const verify_names& names);
/// One JSON object in one line.
[[nodiscard]] std::string json_of(const verify_outcome& outcome, const verify_names& names);

}  // namespace walrelay::tasks
