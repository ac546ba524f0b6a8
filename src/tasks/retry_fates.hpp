// What became of the retries of dead letters: a letter is done when the message is in the stream.
// Its row in the WAL is not enough: a slot that is lost takes it along, and the letter is open
// again. A retry that fails is noted by the relay, in the letter itself.
#pragma once

#include "config/settings.hpp"
#include "core/error.hpp"
#include "postgres/session/connection.hpp"
#include "postgres/tables/dead_letter_desk.hpp"
#include "servers/run_to_end.hpp"

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstdint>
#include <vector>

namespace walrelay::tasks {

struct retry_outcomes {
    /// Letters whose retry was lost, by id.
    std::vector<std::int64_t> lost = {};
    /// So many messages of retries were found in the stream now: these letters are done.
    std::uint64_t stored = 0;
    /// So many of `lost` were not known to be.
    std::uint64_t newly_lost = 0;
    /// So many are still to be read by the relay, or the stream does not tell of them.
    std::uint64_t unknown = 0;
    /// Those that the relay has read, whatever became of them.
    std::vector<postgres::queued_retry> read = {};
};

inline constexpr std::chrono::seconds however_old = std::chrono::years(100);

/// Looks for those of which nobody has seen yet that their message is stored, and that were asked
/// for no longer ago than `not_older`; notes it where the role may write. None is lost while the
/// slot is not there. Reads the stream from the last message on that it had before the oldest of
/// them. Errors: of either server.
[[nodiscard]] boost::asio::awaitable<result<retry_outcomes>> look_at_retries(
    servers::executors on, const config::settings& settings, postgres::connection& sql,
    std::chrono::seconds not_older);

}  // namespace walrelay::tasks
