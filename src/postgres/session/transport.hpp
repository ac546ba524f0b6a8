// How safe the way to a server is. Pure.
#pragma once

#include "core/facts.hpp"

#include <string_view>

namespace walrelay::postgres {

/// What libpq says of a connection.
struct transport_facts {
    std::string_view host = {};     // PQhost: a name, an address, or the folder of a socket
    std::string_view address = {};  // PQhostaddr
    bool tls = false;               // PQsslInUse
    bool gss = false;               // PQgssEncInUse
    std::string_view sslmode = {};
};

/// Source: libpq documentation, "SSL Support", the table of sslmode. `verify-ca` is not enough: any
/// server with a certificate of that authority can answer.
[[nodiscard]] transport_safety judge_transport(const transport_facts& facts);

}  // namespace walrelay::postgres
