// What became of the retries of dead letters: a letter is retried when its message is in the
// stream, or when it became another letter. Its row in the WAL is not enough: a slot that is lost
// takes it along, and the letter is open again.
#pragma once

#include "config/settings.hpp"
#include "core/error.hpp"
#include "postgres/session/connection.hpp"
#include "servers/run_to_end.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <vector>

namespace walrelay::tasks {

struct retry_outcomes {
    /// Letters whose retry was lost, by id.
    std::vector<std::int64_t> lost = {};
    /// So many are still to be read by the relay, or the stream does not tell of them.
    std::uint64_t unknown = 0;
};

/// Looks for those of which nobody has seen yet what became of them, and notes it where the role
/// may write. Errors: of either server.
[[nodiscard]] boost::asio::awaitable<result<retry_outcomes>> look_at_retries(
    servers::executors on, const config::settings& settings, postgres::connection& sql);

}  // namespace walrelay::tasks
