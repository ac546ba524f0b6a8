// What a warning on the replication connection means for the rows of its stream. Pure.
#pragma once

#include "core/error.hpp"
#include "postgres/session/server_error.hpp"

#include <optional>
#include <string_view>

namespace walrelay::postgres {

/// Whether rows are left out because their publication was missing when they were written: from
/// PostgreSQL 18 on pgoutput only warns of that (LoadPublications,
/// src/backend/replication/pgoutput/pgoutput.c), before it the stream ends.
[[nodiscard]] bool skips_publication(const server_report& warning, std::string_view publication);

/// The error that it is for a relay; nothing where it costs no row.
[[nodiscard]] std::optional<error> explain_warning(const server_report& report,
                                                   const server_context& context);

}  // namespace walrelay::postgres
