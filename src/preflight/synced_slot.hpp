// A slot that a standby keeps in step with its primary's (PostgreSQL 17 and newer). Pure.
#pragma once

#include "core/error.hpp"
#include "core/facts.hpp"

#include <optional>
#include <string>

namespace walrelay::preflight {

/// Why nothing can be read from it before the standby is promoted; nothing where it is none. By
/// what the catalog says: the server's refusal says so in its own language only. Errors:
/// postgres_unavailable, which is waited out.
[[nodiscard]] std::optional<error> kept_for_promotion(const std::string& slot,
                                                      const postgres_facts& facts);

}  // namespace walrelay::preflight
