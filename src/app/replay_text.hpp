// Replays in words and in JSON, for `walrelay replay`. Pure.
#pragma once

#include "nats/requests/stream_request.hpp"
#include "postgres/tables/replay_desk.hpp"
#include "relay/replay/replay_plan.hpp"
#include "tasks/replay/replay_work.hpp"
#include "tasks/replay/stream_share.hpp"
#include "tasks/replayed_rows.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::app {

struct replay_words {
    const postgres::kept_replay& scope;
    const relay::replay_plan& plan;
    std::optional<tasks::stream_share> share = {};
    std::string stream = {};
    /// How full that is, where it is there.
    std::optional<nats::stream_glance> fill = {};
    /// Another stream that they go into, and what that has already.
    std::string to_stream = {};
    std::optional<position> there_up_to = {};
    std::uint64_t rows_there = 0;
};

/// Several lines.
[[nodiscard]] std::string text_of_plan(const replay_words& words);
/// One line: `{"replay": {...}, "plan": {...}}`.
[[nodiscard]] std::string json_of_plan(const replay_words& words);

/// What the stream has of those that are under way, or were broken off.
using open_replays = std::vector<tasks::open_replay>;

/// A head and a line for each, and what is to be done.
[[nodiscard]] std::string text_of_replays(const std::vector<postgres::kept_replay>& all,
                                          const open_replays& open);
[[nodiscard]] std::string text_of_replay(const postgres::kept_replay& one,
                                         const open_replays& open);
[[nodiscard]] std::string json_of_replay(const postgres::kept_replay& one,
                                         const open_replays& open = {});
/// One that is done.
[[nodiscard]] std::string text_of_outcome(std::int64_t number,
                                          const tasks::replay_outcome& outcome);

}  // namespace walrelay::app
