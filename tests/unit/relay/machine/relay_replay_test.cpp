// The relay machine and the rows of earlier that `walrelay replay` puts into the WAL again.

#include "unit/relay/machine/relay_script.hpp"
#include "unit/relay/proved_control.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::relay {
namespace {

using namespace std::chrono_literals;
using test::relay_script;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::uint32_t table_oid = 16384;
constexpr std::uint32_t control_oid = 16999;
const std::string original = "7.1.0000000000000040.0000000000000038.0";
const std::string event =
    R"([{"name":"id","type":25,"value":"a"},{"name":"kind","type":25,"value":"k"},)"
    R"({"name":"payload","type":25,"value":"{}"}])";

relay_options with_write_backs() {
    relay_options options;
    options.lane = {8, 100'000, 5s};
    options.slot = "slot";
    options.duties = {{.writes_back = true}};
    return options;
}

struct control_values {
    std::optional<std::string> slot = "slot";
    std::optional<std::string> number = "3";
    std::optional<std::string> position = original;
    std::optional<std::string> subject = {};
    std::string table = "outbox";
    std::string content = event;
    std::string proof = test::proof_of_control();
};

class RelayReplay : public testing::Test {
protected:
    void SetUp() override {
        script_.start();
        script_.broker_connects(0);
        script_.postgres_connects();
        script_.frame(test::begin_frame(lsn{0x100}));
        describe_control(script_);
    }
    static void describe_control(relay_script& script) {
        script.frame(test::relation_frame(
            control_oid, "walrelay", "control",
            {"kind", "slot", "replay", "position", "committed_at", "subject", "source_schema",
             "source_table", "event", "transaction", "proof"}));
    }
    std::vector<std::string> replay(const control_values& row, lsn at = lsn{0x90}) {
        return replay(script_, row, at);
    }
    static std::vector<std::string> replay(relay_script& script, const control_values& row,
                                           lsn at = lsn{0x90}) {
        return script.frame(test::insert_frame(
            control_oid,
            {"replay", row.slot, row.number, row.position, "946684800000000", row.subject, "public",
             row.table, row.content, test::control_transaction, row.proof},
            at));
    }
    /// Of the last message.
    [[nodiscard]] std::string header(const std::string& name) {
        const auto& last = script_.machine().the_lane().newest();
        for (std::size_t index = 0; index < last.header_count(); ++index) {
            if (last.header_at(index).name == name) {
                return last.header_at(index).value;
            }
        }
        return "";
    }

    relay_script script_{with_write_backs()};
};

TEST_F(RelayReplay, PublishesTheRowAsANewMessageThatTellsOfTheOld) {
    EXPECT_THAT(replay({}), ElementsAre("publish a;replay-3-" + original + "@0"));
    EXPECT_EQ(header("Walrelay-Replay"), "3");
    EXPECT_EQ(header("Walrelay-Original-Position"), original);
    EXPECT_THAT(header("Walrelay-Position"), HasSubstr(".0000000000000100.0000000000000090.0"));
    EXPECT_EQ(script_.machine().the_lane().newest().subject, "events.k");
}

/// A row above delivery.max_row_bytes, of which the WAL's reader has no id, while rows are compared
/// one by one with what the stream has at that place.
class LargeReplayedRow : public RelayReplay {
protected:
    LargeReplayedRow() {
        again_.description = "walrelay slot=slot database=app system=7 timeline=1 rules=before";
        again_.max_payload_bytes = std::uint64_t{1} << 30U;
    }
    std::vector<std::string> arrives_in_comparison(bool compares_ids, lsn stored_at) {
        again_.start();
        again_.broker_connects(2, commit_position{lsn{0x200}, lsn{0x198}, 0});
        again_.postgres_connects();
        stored_rows_request wanted;
        wanted.line = {relay_script::origin};
        wanted.compares_ids = compares_ids;
        const auto rows = std::make_shared<stored_rows>(wanted);
        rows->add(1, position{relay_script::origin, {lsn{0x100}, stored_at, 0}}, "a;replay-3");
        rows->add(2, position{relay_script::origin, {lsn{0x200}, lsn{0x198}, 0}}, "later");
        rows->end(true, removed_messages::none);
        again_.stored_is_read(rows);
        again_.frame(test::begin_frame(lsn{0x100}));
        describe_control(again_);
        control_values large;
        large.content = std::string(std::size_t{65} << 20U, 'x');
        return replay(again_, large);
    }

    relay_script again_{with_write_backs()};
};

TEST_F(LargeReplayedRow, IsNotSetAsideWhereTheStreamHasIt) {
    EXPECT_THAT(arrives_in_comparison(false, lsn{0x90}), IsEmpty());
    again_.frame(test::commit_frame(lsn{0x100}, lsn{0x101}));
    EXPECT_EQ(again_.machine().confirmed(), lsn{0x101});
}

TEST_F(LargeReplayedRow, IsSetAsideWhereTheStreamDoesNotHaveIt) {
    EXPECT_THAT(arrives_in_comparison(false, lsn{0x80}), ElementsAre("dead_letter 0/100.0"));
    EXPECT_THAT(again_.letter().reason, Not(HasSubstr("may have")));
}

TEST_F(LargeReplayedRow, IsSetAsideWithADoubtWhereOnlyItsIdCouldTell) {
    EXPECT_THAT(arrives_in_comparison(true, lsn{0x90}), ElementsAre("dead_letter 0/100.0"));
    EXPECT_THAT(again_.letter().reason, HasSubstr("stream S may have its message already"));
}

TEST_F(RelayReplay, IsLeftAloneWhereItDoesNotShowWhoWroteIt) {
    control_values row;
    row.proof = "whatever";
    EXPECT_THAT(replay(row), IsEmpty());
    EXPECT_TRUE(script_.machine().the_lane().empty());
}

TEST_F(RelayReplay, IsWrittenBackForNobody) {
    replay({});
    script_.acks(1);
    EXPECT_EQ(script_.machine().awaited_write_backs(), 0U);
    script_.frame(test::commit_frame(lsn{0x100}, lsn{0x101}));
    EXPECT_EQ(script_.machine().confirmed(), lsn{0x101});
}

TEST_F(RelayReplay, OfARowThatWasReadFromItsTableHasNoPositionOfOld) {
    control_values row;
    row.position = std::nullopt;
    EXPECT_THAT(replay(row), ElementsAre("publish a;replay-3@0"));
    EXPECT_EQ(header("Walrelay-Original-Position"), "");
}

TEST_F(RelayReplay, PutsTheRowBesideTheLiveSubjects) {
    control_values row;
    row.subject = "replay.{subject}";
    replay(row);
    EXPECT_EQ(script_.machine().the_lane().newest().subject, "replay.events.k");
}

TEST_F(RelayReplay, OfAnotherSlotIsLeftAlone) {
    control_values row;
    row.slot = "another";
    EXPECT_THAT(replay(row), IsEmpty());
}

TEST_F(RelayReplay, TakesNoSubjectThatTheServerKeepsForItself) {
    for (const auto* const subject :
         {"$JS.API.STREAM.DELETE.OUTBOX", "_INBOX.x", "a b", "a.*", ">", "a..b", ".a", "a.", ""}) {
        control_values row;
        row.subject = subject;
        EXPECT_THAT(replay(row), IsEmpty()) << subject;
        EXPECT_THAT(script_.last_log(), HasSubstr("has a subject that no message may have"))
            << subject;
    }
}

TEST_F(RelayReplay, TakesNothingForANumberOrAPositionThatIsNone) {
    control_values row;
    row.number = "three";
    EXPECT_THAT(replay(row), IsEmpty());
    EXPECT_THAT(script_.last_log(), HasSubstr("lacks its table, its numbers"));
    row = {};
    row.position = "7.1\r\nX: y";
    EXPECT_THAT(replay(row), IsEmpty());
    EXPECT_THAT(script_.last_log(), HasSubstr("has a position that is none"));
}

TEST_F(RelayReplay, OfATableThatIsNoOutboxAnyMoreIsADeadLetter) {
    control_values row;
    row.table = "gone";
    EXPECT_THAT(replay(row), ElementsAre("dead_letter 0/100.0"));
    script_.dead_letter_is_stored();
    script_.frame(test::commit_frame(lsn{0x100}, lsn{0x101}));
    EXPECT_EQ(script_.machine().confirmed(), lsn{0x101});
}

TEST_F(RelayReplay, OfARowThatDoesNotFitIsADeadLetterWithoutAStatus) {
    control_values row;
    row.content = R"([{"name":"id","type":25,"value":"a"}])";
    EXPECT_THAT(replay(row), ElementsAre("dead_letter 0/100.0"));
    EXPECT_EQ(script_.letter().key, std::nullopt) << "on_dead_letter is for the row itself";
}

TEST_F(RelayReplay, StandsBetweenLiveRowsInItsOwnOrder) {
    replay({}, lsn{0x90});
    control_values second;
    second.position = "7.1.0000000000000040.0000000000000039.0";
    EXPECT_THAT(replay(second, lsn{0x98}), IsEmpty()) << "the chain is proved first";
    EXPECT_THAT(script_.acks(1), ElementsAre("publish a;replay-3-" + *second.position + "@1"));
    script_.frame(test::commit_frame(lsn{0x100}, lsn{0x101}));
    script_.frame(test::begin_frame(lsn{0x200}));
    EXPECT_THAT(script_.frame(test::insert_frame(table_oid, {"b", "new", "{}"})),
                ElementsAre("publish b@2"));
}

}  // namespace
}  // namespace walrelay::relay
