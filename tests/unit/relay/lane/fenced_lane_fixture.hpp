// A lane of a sole writer, with the events of commits 1, 2, 3, ...
#pragma once

#include "relay/lane/fenced_lane.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::relay {

using namespace std::chrono_literals;

inline constexpr history here{7, 1};
inline constexpr monotonic_time start{};

/// Where records begin: no place of a snapshot.
constexpr lsn nth(std::uint64_t commit) {
    return lsn{8 * commit};
}

inline publish_outcome stored(std::uint64_t sequence) {
    return {outcome_class::stored, sequence, 0, {}};
}

inline publish_outcome duplicate(std::uint64_t sequence) {
    return {outcome_class::duplicate, sequence, 0, {}};
}

inline publish_outcome failed(outcome_class kind) {
    return {kind, 0, 0, "words of the broker"};
}

/// The stream does not end with what the message expects.
inline const publish_outcome wrong_sequence{outcome_class::doubt, 0, 10071, "wrong last sequence"};

inline stream_tail tail_at(std::uint64_t sequence, std::uint64_t commit) {
    return {sequence, position{here, {nth(commit), {}, 0}}};
}

/// Has room for four messages.
class FencedLane : public testing::Test {
protected:
    FencedLane() { tested.set_history({here}); }

    void admit(std::uint64_t commit, std::size_t body_bytes = 10) {
        message& filled = tested.vacancy();
        filled.where = {here, {nth(commit), {}, 0}};
        filled.id = std::to_string(commit);
        filled.subject = "s";
        filled.body.assign(body_bytes, 'x');
        tested.admit();
    }

    /// Open, behind a message of commit 0 that made this sequence: no probe is due.
    void open_proven(std::uint64_t sequence) {
        tested.open(1, {sequence - 1, {}});
        admit(0);
        send();
        EXPECT_EQ(reply(tokens.at(0), stored(sequence)), lane_verdict::carry_on);
        tokens.clear();
    }

    void admit_through(std::uint64_t first, std::uint64_t last) {
        for (auto commit = first; commit <= last; ++commit) {
            admit(commit);
        }
    }

    /// What goes out now, as "id@expected sequence".
    std::vector<std::string> send(monotonic_time at = start) {
        std::vector<std::string> sent;
        while (const auto next = tested.next_to_send(at)) {
            tokens.push_back(next->token);
            sent.push_back(next->content->id + "@" +
                           std::to_string(next->expected_last_sequence.value()));
        }
        return sent;
    }

    lane_verdict reply(publish_token token, const publish_outcome& outcome,
                       monotonic_time at = start) {
        return tested.on_reply(token, outcome, at);
    }

    std::optional<std::uint64_t> stored_commit() const {
        const auto known = tested.stored_up_to();
        return known ? std::optional(known->commit.value / 8) : std::nullopt;
    }

    fenced_lane tested{{4, 1000, 5s}};
    std::vector<publish_token> tokens;
};

using strings = std::vector<std::string>;

}  // namespace walrelay::relay
