// The witness of a slot in walrelay.witness: reads it, and commits a change of it where nobody else
// has changed it meanwhile. sql/witness.sql says what the columns are.
#pragma once

#include "core/error.hpp"
#include "core/outbox_table.hpp"
#include "core/witness.hpp"
#include "postgres/session/connection.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::postgres {

struct read_witness_row {
    witness what = {};
    /// An SQL condition: true of rows whose last change was committed after all that the witness
    /// names. Empty where it cannot be told.
    std::string is_later = {};
    /// All of those were committed after it.
    lsn later_than = {};
};

/// Nothing where there is no such row, or no such table. `system_identifier` is that of the server:
/// a row that was copied from another one tells nothing of its transactions. Errors: those of
/// own_tables.hpp.
[[nodiscard]] boost::asio::awaitable<result<std::optional<read_witness_row>>> read_witness(
    connection& sql, std::string slot, std::uint64_t system_identifier);

/// Commits it, where the row has `what.version` (0: where there is no row). Returns the new
/// version; nothing where somebody else has changed the row. Makes the table where it is missing.
/// Errors: those of own_tables.hpp; postgres_unsuitable where the role may not,
/// postgres_unavailable where the server takes no writes at the moment.
[[nodiscard]] boost::asio::awaitable<result<std::optional<std::uint64_t>>> store_witness(
    connection& sql, std::string slot, witness what, std::vector<table_name> outboxes);

}  // namespace walrelay::postgres
