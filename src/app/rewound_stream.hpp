// What becomes of a stream that has lost messages once its slot was put back by `walrelay replay
// --rewind`.
#pragma once

#include "config/settings.hpp"
#include "core/error.hpp"
#include "postgres/session/connection.hpp"
#include "servers/run_to_end.hpp"

#include <boost/asio/awaitable.hpp>

namespace walrelay::app {

/// A stream that lacks what walrelay.witness names begins anew with what it has, and is made where
/// it is gone: what it had comes again from the slot. One that lacks nothing, or is another stream,
/// stays as it is. Prints what it does. Errors: of the servers; gap_found where it is not proved
/// that the slot sends all that is missing from where it stands now: the witness stays, so that
/// the next start halts.
[[nodiscard]] boost::asio::awaitable<result<void>> begin_with_what_is_there(
    servers::executors on, postgres::connection& sql, const config::settings& settings);

}  // namespace walrelay::app
