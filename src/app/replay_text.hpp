// Replays in words and in JSON, for `walrelay replay`. Pure.
#pragma once

#include "nats/requests/stream_request.hpp"
#include "postgres/tables/replay_desk.hpp"
#include "relay/replay/replay_plan.hpp"
#include "tasks/replay/stream_share.hpp"

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

/// A head and a line for each.
[[nodiscard]] std::string text_of_replays(const std::vector<postgres::kept_replay>& all);
[[nodiscard]] std::string text_of_replay(const postgres::kept_replay& one);
[[nodiscard]] std::string json_of_replay(const postgres::kept_replay& one);

}  // namespace walrelay::app
