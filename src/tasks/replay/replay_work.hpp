// A replay at work: counts what it would do, and does it. The rows go through walrelay.control, in
// batches that note the progress in the same transaction; the relay that holds the slot publishes
// them, now or when it is started next.
#pragma once

#include "config/settings.hpp"
#include "core/error.hpp"
#include "postgres/session/connection.hpp"
#include "postgres/tables/replay_desk.hpp"
#include "relay/replay/replay_plan.hpp"
#include "servers/run_to_end.hpp"

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace walrelay::tasks {

enum class replay_wait {
    nothing,
    /// No relay streams from the slot: nothing goes on until one does.
    relay,
    /// The broker is away, or takes nothing.
    broker,
};

/// Told now and then.
struct replay_progress {
    std::uint64_t rows = 0;
    std::uint64_t planned = 0;
    replay_wait waits_for = replay_wait::nothing;
    /// Of the broker, in words.
    std::string trouble = {};
};
using tell_progress = std::function<void(const replay_progress&)>;

/// Reads the whole range and writes nothing.
[[nodiscard]] boost::asio::awaitable<result<relay::replay_plan>> plan_replay(
    servers::executors on, const config::settings& settings, postgres::connection& sql,
    postgres::kept_replay of, tell_progress tell);

struct replay_outcome {
    bool cancelled = false;
    /// Another session went on with it meanwhile, to its end: nothing else is told then.
    bool done_before = false;
    std::uint64_t published = 0;
    /// Of these: rows that became dead letters.
    std::uint64_t dead_letters = 0;
    /// Of these: they are not found, but the stream has removed messages since, which may have been
    /// theirs.
    std::uint64_t untold = 0;
    /// That were written and not published, as the slot was lost or moved, and were written again.
    std::uint64_t again = 0;
    /// Rows of the plan that are not in their table any more, and were not published.
    std::uint64_t gone = 0;
};

/// Goes on after the row that was written last, as walrelay.replay says once no other session can
/// go on with it, up to the end of the range, and until all of it is
/// published: rows that were written and that neither the stream nor a dead letter has, as the slot
/// that would have brought them was lost or moved, are written again, and no others. Never more
/// than 40 batches are written that the slot has not confirmed, and two where no relay reads it, so
/// that live rows wait for no more than these. Errors: also where rows cannot be written again,
/// with how many.
[[nodiscard]] boost::asio::awaitable<result<replay_outcome>> carry_out_replay(
    servers::executors on, const config::settings& settings, postgres::connection& sql,
    postgres::kept_replay of, tell_progress tell);

}  // namespace walrelay::tasks
