// What the scenarios share in which the meaning of a position changes: rows that one session after
// the other commits, so that their order is known without a witness, and a relay that either goes
// on without a loss or stops and says why.
#pragma once

#include "chaos/scenario.hpp"
#include "chaos/trial.hpp"

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace walrelay::chaos {

/// One way in which a scenario can go; each time is the next one of them.
struct variant {
    std::string name;
    std::function<void(arena_options&)> arrange = {};
    std::function<void(trial&)> run;
};

/// Every time in an arena of its own, until all are done, also after one that failed.
[[nodiscard]] scenario scenario_of(const std::string& name, const std::string& what,
                                   const std::vector<variant>& variants);

void require(bool condition, const std::string& what);

/// The relay, which makes its slot; returns once a first row is in the stream.
void begin(trial& one);
/// Each row in a transaction of its own, of the server that is the primary now.
void commit_rows(arena& where, std::uint64_t first, std::uint64_t last);
/// Until that many messages are in the stream.
void wait_for_messages(arena& where, std::uint64_t count);
/// SIGTERM; it must end with 0.
void stop_relay(trial& one);

enum class response : std::uint8_t { went_on, stopped };

/// Commits one more row and waits until it is in the stream, or until the relay has ended: then
/// with exit code 3, what fixes it, and one of `causes` in what it logged since `log_begin`.
[[nodiscard]] response meet(trial& one, const std::vector<std::string>& causes,
                            std::size_t log_begin = 0);

/// The same where the database is the right one in spite of what the relay says: if it stops, it is
/// started once more as it says, and then it must go on.
[[nodiscard]] response meet_and_fix(trial& one, const std::vector<std::string>& causes,
                                    std::size_t log_begin = 0);

struct expected_rows {
    /// In the order of their commits; each must be in the stream once.
    std::vector<std::string> ids;
    /// May be there, and need not be.
    std::set<std::string> excused = {};
    /// Where not, their order counts for nothing.
    bool in_order = true;
};

/// The ids of the primary's rows, in the order in which they were committed.
[[nodiscard]] std::vector<std::string> ids_of(arena& where,
                                              const std::vector<std::string>& tables = {
                                                  "outbox_events"});
/// Of all messages.
[[nodiscard]] std::set<std::string> ids_in_stream(arena& where);
/// Of `these`, what is not in `those`.
[[nodiscard]] std::set<std::string> without(const std::vector<std::string>& these,
                                            const std::vector<std::string>& those);

/// Adds to the verdict. Where the relay has stopped, rows that are not in the stream are still in
/// the slot or the table, and not lost; a dead letter is a row too few in any case.
void judge_rows(trial& one, const expected_rows& expected, response how);

}  // namespace walrelay::chaos
