// The span of one row: from its commit over its publish to the broker's ack. Plain data.
#pragma once

#include "core/change.hpp"
#include "core/message.hpp"
#include "core/position.hpp"
#include "traces/trace_parent.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace walrelay::traces {

struct span {
    trace_parent parent;
    /// Its own, and never 0.
    std::uint64_t id = 0;
    /// Of the header `tracestate`; empty where there is none.
    std::string trace_state;
    wall_time committed_at;
    wall_time published_at;
    wall_time acked_at;
    std::string subject;
    std::string message_id;
    std::size_t body_bytes = 0;
    position where;
    message_cause cause = message_cause::live;
    std::uint64_t sequence = 0;

    /// What it takes while it waits.
    [[nodiscard]] std::size_t size_bytes() const {
        return sizeof(span) + trace_state.size() + subject.size() + message_id.size();
    }
};

}  // namespace walrelay::traces
