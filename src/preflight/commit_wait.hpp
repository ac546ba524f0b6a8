// Whether commits of the applications wait for walrelay as a synchronous standby.
#pragma once

#include "core/facts.hpp"
#include "core/finding.hpp"
#include "core/outbox_table.hpp"

#include <vector>

namespace walrelay::preflight {

void look_at_commit_wait(const std::vector<outbox_table>& wanted, const postgres_facts& facts,
                         findings_list& found);

}  // namespace walrelay::preflight
