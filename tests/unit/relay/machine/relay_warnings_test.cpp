// What the relay machine calls a warning: something that somebody should look at.

#include "unit/relay/machine/relay_script.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace walrelay::relay {
namespace {

using namespace std::chrono_literals;
using test::relay_script;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::uint64_t commit = 800;

class RelayWarnings : public testing::Test {
protected:
    static placed_message own(std::uint64_t sequence, std::uint64_t row) {
        return {sequence,
                {relay_script::origin, {lsn{commit}, lsn{row}, 0}},
                "id-" + std::to_string(row)};
    }
    std::vector<std::string> broker_connects(std::uint64_t last_sequence) {
        const auto& last = script_.placed.back().where.at;
        return script_.broker_connects(last_sequence, last);
    }
    void broker_comes_back(std::uint64_t last_sequence) {
        script_.broker_fails();
        script_.passes(10s);
        broker_connects(last_sequence);
    }
    [[nodiscard]] std::size_t warnings_with(const std::string& words) const {
        const auto& lines = script_.warnings();
        return static_cast<std::size_t>(
            std::count_if(lines.begin(), lines.end(),
                          [&](const auto& line) { return line.find(words) != std::string::npos; }));
    }

    relay_script script_;
};

TEST_F(RelayWarnings, AreNotOfAStreamThatOthersFilledBefore) {
    script_.shared = true;
    script_.placed = {own(8, 1), own(9, 2)};
    script_.start();
    broker_connects(9);
    EXPECT_THAT(script_.warnings(), IsEmpty());
    EXPECT_THAT(script_.last_log(), HasSubstr("before walrelay's first message"));
    broker_comes_back(9);
    EXPECT_EQ(warnings_with("somebody"), 0U);
    EXPECT_THAT(script_.last_log(), Not(HasSubstr("somebody else"))) << "said once";
}

TEST_F(RelayWarnings, AreNotOfAStreamThatOthersAloneHaveFilled) {
    script_.shared = true;
    script_.start();
    script_.broker_connects(9);
    EXPECT_THAT(script_.warnings(), IsEmpty());
}

TEST_F(RelayWarnings, TellOnceOfAStrangerAmongWalrelaysMessages) {
    script_.shared = true;
    script_.placed = {own(7, 1), own(9, 2)};
    script_.start();
    broker_connects(9);
    EXPECT_EQ(warnings_with("somebody else has written"), 1U);
    broker_comes_back(9);
    EXPECT_EQ(warnings_with("somebody else has written"), 1U) << "the same one";
    broker_comes_back(10);
    EXPECT_EQ(warnings_with("somebody else has written"), 2U) << "another one";
}

TEST_F(RelayWarnings, TellOfALastMessageOfAnotherDatabase) {
    script_.description = "walrelay slot=slot database=app system=7 timeline=1 rules=now.1";
    script_.start();
    script_.tail_origin = history{8, 1};
    script_.broker_connects(9, commit_position{lsn{0x100}, lsn{0xF0}, 0});
    script_.postgres_connects();
    EXPECT_EQ(warnings_with("a position of another database (8.1."), 1U);
}

TEST_F(RelayWarnings, AreNotOfRowsThatAreOnlyLookedFor) {
    const auto at_second = [](int time) { return wall_time(std::chrono::seconds(time)); };
    script_.recent = {{"a", at_second(10), 1}, {"b", at_second(20), 2}};
    script_.newest_rows =
        roll{{{0, "c", at_second(30)}, {0, "a", at_second(9)}}, lsn{1600}, at_second(100)};
    script_.start();
    script_.broker_connects(2, commit_position{lsn{commit}, lsn{1}, 0});
    script_.postgres_connects_with(relay_script::origin, lsn{commit + 1});
    ASSERT_THAT(script_.frame(test::keepalive_frame(lsn{1600})), Contains("look_for_rows c"));
    script_.rows_are_missing({});
    EXPECT_THAT(script_.last_log(), HasSubstr("all of them are there"));
    EXPECT_THAT(script_.warnings(), IsEmpty());
}

TEST_F(RelayWarnings, TellOfAPromotionBeforeTheStart) {
    script_.start();
    script_.broker_connects(0);
    script_.ancestors = {{1, lsn{commit}}};
    script_.postgres_connects_with({7, 2});
    EXPECT_THAT(script_.warnings(),
                ElementsAre(AllOf(HasSubstr("on timeline 2 now, which left timeline 1"),
                                  HasSubstr("was filled from that one"))));
}

TEST_F(RelayWarnings, AreNotOfANewPartition) {
    script_.start();
    script_.broker_connects(0);
    script_.postgres_connects();
    script_.frame(test::begin_frame(lsn{100}));
    script_.frame(test::relation_frame(5, "public", "later", {"id", "kind", "payload"}));
    script_.frame(test::insert_frame(5, {"x", "k", "{}"}));
    EXPECT_THAT(script_.last_log(), HasSubstr("trying again"));
    EXPECT_THAT(script_.warnings(), IsEmpty());
}

}  // namespace
}  // namespace walrelay::relay
