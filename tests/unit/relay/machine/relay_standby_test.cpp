// The relay machine on a standby, whose timeline may change under a connection.

#include "unit/relay/machine/relay_script.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace walrelay::relay {
namespace {

using test::relay_script;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::uint64_t first = 800;
constexpr std::uint64_t second = 1600;

class RelayOnStandby : public testing::Test {
protected:
    RelayOnStandby() {
        script_.on_standby = true;
        script_.start();
        script_.broker_connects(0, std::nullopt);
        script_.postgres_connects();
    }
    std::vector<std::string> row(const std::string& id) {
        return script_.frame(test::insert_frame(16384, {id, "kind", "{}"}));
    }
    void is_lost_for(const std::string& reason) {
        EXPECT_FALSE(script_.machine().wants_frames());
        EXPECT_THAT(script_.last_log(), HasSubstr(reason));
    }

    relay_script script_;
};

TEST_F(RelayOnStandby, ReadsATransactionOnceItsTimelineIsKnown) {
    EXPECT_THAT(script_.frame(test::begin_frame(lsn{first})), ElementsAre("ask_replayed"));
    EXPECT_FALSE(script_.machine().wants_frames());
    EXPECT_THAT(script_.replayed(replay_place{lsn{second}, 1}), IsEmpty());
    EXPECT_THAT(row("a"), ElementsAre("publish a@0"));
}

TEST_F(RelayOnStandby, AsksOnceForAllThatIsOnItsWay) {
    script_.frame(test::begin_frame(lsn{first}));
    script_.replayed(replay_place{lsn{second}, 1});
    script_.frame(test::commit_frame(lsn{first}, lsn{first + 1}));
    EXPECT_THAT(script_.frame(test::begin_frame(lsn{second})), Not(Contains("ask_replayed")));
    script_.frame(test::commit_frame(lsn{second}, lsn{second + 1}));
    EXPECT_THAT(script_.frame(test::begin_frame(lsn{second + 8})), Contains("ask_replayed"));
}

TEST_F(RelayOnStandby, ConnectsAgainWhereTheTimelineChanged) {
    script_.frame(test::begin_frame(lsn{first}));
    EXPECT_THAT(script_.replayed(replay_place{lsn{second}, 2}), ElementsAre("close_postgres"));
    is_lost_for("went from timeline 1 to 2");
}

TEST_F(RelayOnStandby, PublishesNothingThatTheStandbyDidNotReplay) {
    script_.frame(test::begin_frame(lsn{second}));
    EXPECT_THAT(script_.replayed(replay_place{lsn{first}, 1}), ElementsAre("close_postgres"));
    is_lost_for("before it tells of which timeline");
}

TEST_F(RelayOnStandby, ConnectsAgainWhereItCannotAsk) {
    script_.frame(test::begin_frame(lsn{first}));
    EXPECT_THAT(script_.replayed(error{errc::postgres_lost, "gone", ""}),
                ElementsAre("close_postgres"));
    is_lost_for("gone");
}

}  // namespace
}  // namespace walrelay::relay
