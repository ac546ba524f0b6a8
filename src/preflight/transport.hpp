// What can be read or forged on the way to the servers.
#pragma once

#include "core/facts.hpp"
#include "core/finding.hpp"

namespace walrelay::preflight {

void look_at_transport(const postgres_facts& facts, findings_list& found);
void look_at_transport(const broker_facts& facts, findings_list& found);

}  // namespace walrelay::preflight
