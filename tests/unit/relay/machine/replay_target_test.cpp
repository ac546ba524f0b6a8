#include "relay/machine/replay_target.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace walrelay::relay {
namespace {

using testing::HasSubstr;

const lineage line{{7, 2}, {{1, lsn{1000}}}};

position at(std::uint64_t commit, std::uint32_t timeline = 2) {
    return {{7, timeline}, {lsn{commit}, lsn{commit - 1}}};
}

stream_owner owner(const replay_rules& rules = {}) {
    return owner_of_replay("walrelay_replay", "shop", 7, rules);
}

stream_facts filled(const position& last) {
    stream_facts facts;
    facts.description = to_string(owner());
    facts.first_sequence = 1;
    facts.last_sequence = 3;
    facts.last_position = last;
    facts.final_position = last;
    return facts;
}

result<std::optional<position>> judge(const stream_facts& facts) {
    return replay_goes_on_after("COPY", owner(), facts, line);
}

TEST(ReplayTarget, GoesOnAfterTheLastMessage) {
    EXPECT_EQ(**judge(filled(at(2000))), at(2000));
    EXPECT_EQ(**judge(filled(at(900, 1))), at(900, 1)) << "of the timeline before";
}

TEST(ReplayTarget, BeginsWhereTheStreamIsNew) {
    EXPECT_EQ(*judge({}), std::nullopt);
    stream_facts marked;
    marked.description = to_string(owner());
    EXPECT_EQ(*judge(marked), std::nullopt);
}

TEST(ReplayTarget, RefusesWhatNoReplayMade) {
    stream_facts words;
    words.description = "orders of the shop";
    EXPECT_THAT(judge(words).error().what, HasSubstr("was not made by a replay"));
    stream_facts others;
    others.last_sequence = 1;
    EXPECT_THAT(judge(others).error().what, HasSubstr("was not made by a replay"));
    auto of_a_relay = filled(at(2000));
    of_a_relay.description = "walrelay slot=walrelay database=shop system=7";
    EXPECT_THAT(judge(of_a_relay).error().what, HasSubstr("is that of slot walrelay"));
    EXPECT_EQ(judge(of_a_relay).error().code, errc::broker_unsuitable);
}

TEST(ReplayTarget, RefusesAReplayOfOtherRows) {
    for (const auto& other :
         {replay_rules{{{"public", "orders"}}}, replay_rules{{}, "orders.>"},
          replay_rules{{}, "", {"order/1"}}, replay_rules{{}, "", {}, "copy.{subject}"}}) {
        auto facts = filled(at(2000));
        facts.description = to_string(owner(other));
        EXPECT_THAT(judge(facts).error().what, HasSubstr("with other --table"));
    }
    EXPECT_NE(owner({{}, "a"}).rules, owner({{}, "", {"a"}}).rules);
}

TEST(ReplayTarget, RefusesAnEndThatIsNotItsOwn) {
    auto written_to = filled(at(2000));
    written_to.final_position.reset();
    EXPECT_THAT(judge(written_to).error().what, HasSubstr("does not end with a message"));
    auto shared = filled(at(2000));
    shared.shared = true;
    EXPECT_THAT(judge(shared).error().what, HasSubstr("somebody else has written"));
    EXPECT_THAT(judge(filled(at(1001, 1))).error().what, HasSubstr("of another history"))
        << "after the switch";
}

TEST(ReplayTarget, LeavesNoRowOut) {
    const replayed_before there{at(2000), at(3000)};
    EXPECT_TRUE(joins_replayed("COPY", at(2000), there));
    EXPECT_TRUE(joins_replayed("COPY", at(3000), there));
    EXPECT_THAT(joins_replayed("COPY", at(1999), there).error().what, HasSubstr("begins with"));
    EXPECT_THAT(joins_replayed("COPY", at(3001), there).error().remedy,
                HasSubstr("--from " + to_string(at(3000))));
    EXPECT_TRUE(joins_replayed("COPY", at(1), {{}, at(3000)})) << "its first messages are dropped";
}

}  // namespace
}  // namespace walrelay::relay
