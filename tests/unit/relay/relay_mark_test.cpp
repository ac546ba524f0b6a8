// The mark in the stream's description is written before anything is published that it does not
// hold for.

#include "unit/relay/relay_script.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace walrelay {
namespace {

using test::relay_script;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::chrono_literals;

constexpr const char* same_rules =
    "walrelay slot=slot database=app system=7 timeline=1 rules=now.1";
constexpr const char* other_rules =
    "walrelay slot=slot database=app system=7 timeline=1 rules=before.1";
const error refused{errc::broker_lost, "the mark cannot be written", "allow it"};

relay::relay_options with_rules() {
    relay::relay_options options;
    options.rules = "now";
    return options;
}

class RelayMark : public testing::Test {
protected:
    void begin(const std::string& description) {
        script_.answers_marks = false;
        script_.description = description;
        script_.start();
        script_.broker_connects(0, std::nullopt);
        script_.postgres_connects();
    }
    relay_script script_{with_rules()};
};

TEST_F(RelayMark, IsWrittenBeforeRowsOfOtherRulesArePublished) {
    begin(other_rules);
    EXPECT_THAT(script_.marks(), ElementsAre("now"));
    EXPECT_THAT(script_.transaction(0x100, {"a"}), IsEmpty());
    EXPECT_THAT(script_.stream_is_marked({}), ElementsAre("publish a@0"));
}

TEST_F(RelayMark, ThatCannotBeWrittenHoldsBackWhatALaterStartWouldMisjudge) {
    begin(other_rules);
    script_.transaction(0x100, {"a"});
    EXPECT_THAT(script_.stream_is_marked(refused), ElementsAre("close_postgres"));
    EXPECT_THAT(script_.last_log(), HasSubstr("nothing is published until it is changed"));
    EXPECT_THAT(script_.last_log(), HasSubstr("allow it"));
    script_.passes(1s);
    script_.postgres_connects();
    EXPECT_THAT(script_.marks(), ElementsAre("now", "now"));
    script_.transaction(0x100, {"a"});
    EXPECT_THAT(script_.stream_is_marked({}), ElementsAre("publish a@0"));
}

TEST_F(RelayMark, ThatIsNotThereHoldsNothingUp) {
    begin("");
    EXPECT_THAT(script_.marks(), ElementsAre("now"));
    EXPECT_THAT(script_.transaction(0x100, {"a"}), ElementsAre("publish a@0"));
    EXPECT_THAT(script_.stream_is_marked(refused), IsEmpty());
    EXPECT_THAT(script_.last_log(), HasSubstr("every start compares the rows"));
    script_.acks(1);
    EXPECT_THAT(script_.transaction(0x200, {"b"}), ElementsAre("publish b@1"));
    EXPECT_THAT(script_.marks(), ElementsAre("now")) << "asked for once in a connection";
}

TEST_F(RelayMark, ThatHoldsIsNotWrittenAgain) {
    begin(same_rules);
    EXPECT_THAT(script_.marks(), IsEmpty());
    EXPECT_THAT(script_.transaction(0x100, {"a"}), ElementsAre("publish a@0"));
}

TEST_F(RelayMark, IsWrittenBeforeAComparisonReadsTheStream) {
    script_.answers_marks = false;
    script_.description = other_rules;
    script_.start();
    script_.broker_connects(1, commit_position{lsn{0x100}, lsn{0xF0}, 0});
    EXPECT_THAT(script_.postgres_connects(), IsEmpty());
    EXPECT_THAT(script_.marks(), ElementsAre("comparing-now"));
    EXPECT_FALSE(script_.machine().wants_frames());
    EXPECT_THAT(script_.stream_is_marked({}), ElementsAre("read_stored since 0/0"));
}

TEST_F(RelayMark, WithoutThatNothingIsCompared) {
    script_.answers_marks = false;
    script_.description = other_rules;
    script_.start();
    script_.broker_connects(1, commit_position{lsn{0x100}, lsn{0xF0}, 0});
    script_.postgres_connects();
    EXPECT_THAT(script_.stream_is_marked(refused), Contains("close_postgres"));
}

TEST_F(RelayMark, ComparesAlsoWhereThereCannotBeOne) {
    script_.answers_marks = false;
    script_.description = "";
    script_.start();
    script_.broker_connects(1, commit_position{lsn{0x100}, lsn{0xF0}, 0});
    EXPECT_THAT(script_.postgres_connects(), IsEmpty());
    EXPECT_THAT(script_.stream_is_marked(refused), ElementsAre("read_stored since 0/0"));
}

}  // namespace
}  // namespace walrelay
