// What it means that a connection to PostgreSQL was not made. Only for the .cpp files of this
// folder.
#pragma once

#include "core/error.hpp"
#include "postgres/session/server_error.hpp"

namespace walrelay::postgres {

/// `report` as report_of_failed_connection gives it. postgres_refused where somebody has answered
/// and the same will be refused again; postgres_unavailable for all that passes by itself. Without
/// the server's words, which explain() adds.
[[nodiscard]] error explain_connect(const server_report& report, const server_context& context);

}  // namespace walrelay::postgres
