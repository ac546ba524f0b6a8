// Whether two servers of a cluster say the same of what a stream ends with. Pure.
#pragma once

#include "core/error.hpp"
#include "core/facts.hpp"

#include <string>

namespace walrelay {

/// Whether a replica whose last message is `last` is in step with the leader, whom `leader` is of.
/// Any replica may hold a consumer, and one that fell out of step has other messages than the
/// leader, which alone tells what the stream has.
[[nodiscard]] inline bool ends_alike(const stream_facts& leader, const asked_message& last) {
    return !leader.last_message_there ||
           (last.sequence == leader.last_sequence && last.where == leader.final_position &&
            last.id == leader.final_id);
}

/// To be returned where they do not, or where the leader itself says two things.
[[nodiscard]] inline error ends_differ(const std::string& stream) {
    return {errc::broker_unavailable,
            "the servers of stream " + stream + " do not agree about its last message",
            "nothing, where it passes; a replica that stays behind is named by: nats stream info " +
                stream};
}

}  // namespace walrelay
