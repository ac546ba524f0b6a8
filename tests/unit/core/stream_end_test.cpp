#include "core/stream_end.hpp"

#include <gtest/gtest.h>

namespace walrelay {
namespace {

position at(std::uint64_t commit) {
    return {{7, 1}, {lsn{commit}, {}, 0}};
}

stream_facts ending_with(std::uint64_t sequence, const position& where, const std::string& id) {
    stream_facts leader;
    leader.last_message_there = true;
    leader.last_sequence = sequence;
    leader.final_position = where;
    leader.final_id = id;
    return leader;
}

TEST(StreamEnd, IsAlikeWhereBothHaveTheSameLastMessage) {
    const auto leader = ending_with(5, at(100), "a");
    EXPECT_TRUE(ends_alike(leader, {5, at(100), "a"}));
    EXPECT_FALSE(ends_alike(leader, {4, at(100), "a"})) << "a replica that is behind";
    EXPECT_FALSE(ends_alike(leader, {5, at(200), "a"}));
    EXPECT_FALSE(ends_alike(leader, {5, at(100), "b"}));
    EXPECT_FALSE(ends_alike(leader, {5, std::nullopt, "a"})) << "somebody else's";
}

TEST(StreamEnd, IsUnknownWhereTheLastMessageWasDeleted) {
    stream_facts leader;
    leader.last_sequence = 5;
    EXPECT_TRUE(ends_alike(leader, {4, at(100), "a"}));
    EXPECT_TRUE(ends_alike(leader, {}));
}

}  // namespace
}  // namespace walrelay
