// Which table somebody may have meant who named one that is not there.
#pragma once

#include "core/outbox_table.hpp"

#include <optional>
#include <string>
#include <vector>

namespace walrelay::preflight {

/// As SQL has it, with quotes only where they are needed.
[[nodiscard]] std::string as_written(const table_name& table);

/// The one of `there` that is called the same but for case and underscores, whatever its schema, or
/// else the nearest; as the configuration and SQL write it: public."OutboxEvents".
[[nodiscard]] std::optional<std::string> table_meant(const table_name& wanted,
                                                     const std::vector<table_name>& there);

/// "did you mean ...? write ...; or ", to be followed by another way; empty where none was meant.
[[nodiscard]] std::string hint_at_table(const table_name& wanted,
                                        const std::vector<table_name>& there);

}  // namespace walrelay::preflight
