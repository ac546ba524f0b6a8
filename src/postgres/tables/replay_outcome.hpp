// What became of a replay's rows, as far as the database knows it: how far the relay has read,
// which are dead letters, and how a replay begins again or ends. What the stream has is not known
// here.
//
// As replay_desk.hpp.
#pragma once

#include "core/error.hpp"
#include "core/lsn.hpp"
#include "postgres/session/connection.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::postgres {

/// How far the relay has come.
struct replay_pace {
    /// The end of the WAL: of all that was written before this was asked.
    lsn written = {};
    /// Nothing where the slot is not there.
    std::optional<lsn> confirmed = {};
    /// A relay streams from it.
    bool active = false;
};
[[nodiscard]] boost::asio::awaitable<result<replay_pace>> read_replay_pace(connection& sql,
                                                                           std::string slot);

struct replayed_letter {
    /// Ends with the occasion; empty where the row could not be mapped that far.
    std::string message_id = {};
    /// The row of one without an id; empty where it was too large to be kept, or dropped.
    std::string event = {};
};
/// Of the slot, since the replay began: those of its rows, and all that tell no id.
[[nodiscard]] boost::asio::awaitable<result<std::vector<replayed_letter>>> letters_of_replay(
    connection& sql, std::string slot, std::int64_t number);

/// Notes that so many of its rows are published, and that it goes through its range again. Returns
/// whether it runs: if not, nothing was changed.
[[nodiscard]] boost::asio::awaitable<result<bool>> restart_replay(connection& sql,
                                                                  std::int64_t number,
                                                                  std::uint64_t stored);

/// Sets it done where it is running, with as many rows as were found. Returns whether it was.
[[nodiscard]] boost::asio::awaitable<result<bool>> finish_replay(connection& sql,
                                                                 std::int64_t number,
                                                                 std::uint64_t stored);

}  // namespace walrelay::postgres
