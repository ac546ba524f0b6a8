// The part of the preflight that is about the slot. Only for the preflight's .cpp files.
#pragma once

#include "core/facts.hpp"
#include "relay/preflight.hpp"

#include <optional>
#include <string>

namespace walrelay::relay {

class findings_list;

/// One that walrelay decodes.
[[nodiscard]] bool is_known_plugin(const std::string& name);

/// For a slot that exists.
void look_at_slot(const expectations& wanted, const postgres_facts& facts, findings_list& found);
/// For one that does not.
void look_for_missing_slot(const expectations& wanted, const postgres_facts& facts,
                           const std::optional<earlier_run>& earlier, findings_list& found);
void look_at_failover_version(const expectations& wanted, const postgres_facts& facts,
                              findings_list& found);

}  // namespace walrelay::relay
