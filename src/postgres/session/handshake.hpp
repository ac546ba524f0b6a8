// From the parameters of a connection to one that is ready for queries, without holding up the
// loop: each step of libpq's may look up the name of a host. Only for the .cpp files of this
// folder.
#pragma once

#include "postgres/session/connect_parameters.hpp"
#include "postgres/session/pq.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <chrono>

namespace walrelay::postgres {

struct handshake_end {
    enum class outcome {
        ready,
        /// libpq says why.
        failed,
        /// Not ready at the deadline.
        late,
        /// The same, and libpq has not even begun: it looks up the name of the first host.
        nameless,
        out_of_memory,
    };
    outcome how = outcome::out_of_memory;
    /// Of `ready` and `failed`.
    pq_connection handle = {};
};

[[nodiscard]] boost::asio::awaitable<handshake_end> shake_hands(
    boost::asio::any_io_executor executor, connect_parameters parameters,
    std::chrono::steady_clock::time_point deadline);

}  // namespace walrelay::postgres
