// A connection to a server that has let us in. The one way there is, for publishes and for
// requests: both believe the same authorities, give the same proofs and choose among the same
// servers.
#pragma once

#include "core/error.hpp"
#include "nats/session/connect_options.hpp"
#include "nats/session/learned_servers.hpp"
#include "nats/session/log_in.hpp"
#include "nats/session/wire_socket.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <memory>
#include <string>

namespace walrelay::nats {

struct server_session {
    std::shared_ptr<wire_socket> socket;
    greeting met;
    /// A password or a token went over the network as everybody on the way can read it.
    bool told_in_clear = false;
    /// Which server it is.
    telling_server server;
};

/// Logs in to the first server of `options.urls` that lets us in, beginning with that of the index
/// `first` (modulo their number), or else to one that those have told of. The leader of the options
/// comes before all of them where it is one of them, unless it has just acked nothing: servers
/// whose name is not known yet are asked for it, all at once and for half a second at most. `lines`
/// go out right after the log-in, and are taken by the server before it counts as done. The files
/// of the proofs are read anew. Errors: broker_unavailable; broker_unsuitable (no permission, a
/// file or an address that cannot be used).
[[nodiscard]] boost::asio::awaitable<result<server_session>> open_session(
    boost::asio::any_io_executor executor, connect_options options, std::size_t first,
    std::string lines);

/// Whether the server of that name is one of those that open_session would choose from, or can be:
/// not all of them have been met.
[[nodiscard]] bool may_be_reached(const connect_options& options, const std::string& name);

}  // namespace walrelay::nats
