// What a server's error says of the next try: whether it passes, waits for the server to be put
// right, is of one row, or comes back until an operator has decided something. Pure.
//
// The one table of it, by SQLSTATE (PostgreSQL documentation, "PostgreSQL Error Codes"). Only what
// comes back may end a relay; what is not in the table passes.
#pragma once

#include <cstdint>
#include <string_view>

namespace walrelay::postgres {

enum class outlook : std::uint8_t {
    /// Goes by: a connection, a rollback, a lock, a time-out, an end of the server.
    passes,
    /// The server takes nothing of the kind until somebody has put it right: a full disk, read-only
    /// mode. Nothing of walrelay's is wrong, so it waits.
    waits,
    /// Of one value or row among many: data, constraints, exceptions that functions raise.
    of_a_row,
    /// Of the statement, a right, an object or a limit of the server.
    decided_by_operator
};

/// Of an error without a code, which is libpq's own, too.
[[nodiscard]] outlook outlook_for(std::string_view sqlstate);

/// The same statement will be refused again, however often it is tried.
[[nodiscard]] bool comes_back(std::string_view sqlstate);

/// What keeps the server from it, and what ends that; both empty where the code does not tell.
struct server_state {
    std::string_view what = {};
    std::string_view fix = {};
};
[[nodiscard]] server_state state_behind(std::string_view sqlstate);

}  // namespace walrelay::postgres
