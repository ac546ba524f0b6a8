// The part of the preflight that is about the slot. Only for the preflight's .cpp files.
#pragma once

#include "core/facts.hpp"
#include "core/finding.hpp"
#include "preflight/preflight.hpp"

#include <optional>
#include <string>

namespace walrelay::preflight {

/// One that walrelay decodes.
[[nodiscard]] bool is_known_plugin(const std::string& name);

/// Not a physical one, nor one of another database.
[[nodiscard]] bool is_of_this_database(const postgres_facts& facts);

/// What to do about a slot of this database that holds changes from before its publication, which
/// pgoutput cannot decode. `create_publication` is SQL, empty where there is one.
[[nodiscard]] std::string way_past_publication(const expectations& wanted,
                                               const postgres_facts& facts,
                                               const std::string& create_publication);

/// For a slot that exists.
void look_at_slot(const expectations& wanted, const postgres_facts& facts,
                  const std::optional<earlier_run>& earlier, findings_list& found);
/// For one that does not.
void look_for_missing_slot(const expectations& wanted, const postgres_facts& facts,
                           const std::optional<earlier_run>& earlier, findings_list& found);
void look_at_failover_version(const expectations& wanted, const postgres_facts& facts,
                              findings_list& found);

}  // namespace walrelay::preflight
