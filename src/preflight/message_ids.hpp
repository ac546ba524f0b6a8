// The part of the preflight that is about message ids of several tables. Only for the preflight's
// .cpp files.
#pragma once

#include "core/facts.hpp"
#include "core/finding.hpp"
#include "preflight/preflight.hpp"

namespace walrelay::preflight {

/// Tables whose rows can have equal ids because both count them, and their templates add nothing
/// that differs: a message of one would be taken for one of the other.
void look_at_message_ids(const expectations& wanted, const postgres_facts& facts,
                         findings_list& found);

}  // namespace walrelay::preflight
