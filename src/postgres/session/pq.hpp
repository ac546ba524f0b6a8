// libpq's handles as owners. Only for the .cpp files of this folder.
#pragma once

#include "postgres/session/server_error.hpp"

#include <libpq-fe.h>

#include <memory>

namespace walrelay::postgres {

struct pq_deleter {
    void operator()(PGconn* handle) const { PQfinish(handle); }
    void operator()(PGresult* handle) const { PQclear(handle); }
    void operator()(PQconninfoOption* handle) const { PQconninfoFree(handle); }
    void operator()(char* buffer) const { PQfreemem(buffer); }
};

using pq_connection = std::unique_ptr<PGconn, pq_deleter>;
using pq_result = std::unique_ptr<PGresult, pq_deleter>;
using pq_conninfo = std::unique_ptr<PQconninfoOption, pq_deleter>;
using pq_buffer = std::unique_ptr<char, pq_deleter>;

/// The error that a result holds; without an SQLSTATE where libpq made it up itself.
[[nodiscard]] server_report report_of(const PGresult* failed);

/// What libpq says of a connection that broke.
[[nodiscard]] server_report report_of(const PGconn* broken);

}  // namespace walrelay::postgres
