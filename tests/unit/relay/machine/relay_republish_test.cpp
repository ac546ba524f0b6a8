// The relay machine with a table whose rows an UPDATE publishes again.

#include "unit/relay/machine/relay_script.hpp"
#include "unit/relay/proved_control.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace walrelay::relay {
namespace {

using namespace std::chrono_literals;
using test::relay_script;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint32_t table_oid = 16384;
constexpr std::uint32_t control_oid = 16999;

relay_options with_republish(bool writes_back = false) {
    relay_options options;
    options.lane = {4, 1000, 5s};
    options.duties = {{.writes_back = writes_back, .republish = republish_rule{"kind", "again"}}};
    return options;
}

class RelayRepublish : public testing::Test {
protected:
    void begin(relay_script& script) {
        script.start();
        script.broker_connects(0);
        script.postgres_connects();
        script.frame(test::begin_frame(lsn{0x100}));
    }
    void SetUp() override { begin(script_); }
    void control_is_described() {
        script_.frame(test::relation_frame(
            control_oid, "walrelay", "control",
            {"kind", "source_schema", "source_table", "event", "subject", "transaction", "proof"}));
    }
    /// As a write-back does that changes these rows.
    void mark(const std::string& table, const std::string& ids, const std::string& id_column) {
        script_.frame(
            test::insert_frame(control_oid, {"own", "public", table, ids, id_column,
                                             test::control_transaction, test::proof_of_control()}));
    }
    /// An UPDATE that left a large value alone, and whose message is the stream's last.
    void expect_passed_over(const std::string& final_id) {
        relay_script again{with_republish()};
        again.final_id = final_id;
        again.start();
        again.broker_connects(1, commit_position{lsn{0x100}, lsn{1}, 0});
        again.postgres_connects();
        again.frame(test::begin_frame(lsn{0x100}));
        EXPECT_THAT(again.frame(test::update_frame(table_oid, {}, {"a", "again", unchanged})),
                    IsEmpty());
        again.frame(test::commit_frame(lsn{0x100}, lsn{0x101}));
        EXPECT_EQ(again.machine().confirmed(), lsn{0x101});
    }

    relay_script script_{with_republish()};
    const std::string unchanged{test::unchanged_value};
};

TEST_F(RelayRepublish, PublishesTheRowAsANewMessage) {
    EXPECT_THAT(script_.frame(test::update_frame(table_oid, {}, {"a", "again", "{}"})),
                ElementsAre("publish a;republish-0000000000000001-0@0"));
    script_.frame(test::commit_frame(lsn{0x100}, lsn{0x101}));
    script_.acks(1);
    EXPECT_EQ(script_.machine().confirmed(), lsn{0x101});
}

TEST_F(RelayRepublish, LeavesOtherUpdatesAlone) {
    EXPECT_THAT(script_.frame(test::update_frame(table_oid, {}, {"a", "done", "{}"})), IsEmpty());
    EXPECT_THAT(
        script_.frame(test::update_frame(table_oid, {"a", "again", "{}"}, {"a", "again", "{1}"})),
        IsEmpty());
    script_.frame(test::commit_frame(lsn{0x100}, lsn{0x101}));
    EXPECT_EQ(script_.machine().confirmed(), lsn{0x101});
}

TEST_F(RelayRepublish, LeavesItsOwnWriteBacksAlone) {
    script_.frame(
        test::relation_frame(control_oid, "walrelay", "control", {"kind", "transaction", "proof"}));
    script_.frame(test::insert_frame(control_oid,
                                     {"own", test::control_transaction, test::proof_of_control()}));
    EXPECT_THAT(script_.frame(test::update_frame(table_oid, {}, {"a", "again", "{}"})), IsEmpty());
    script_.frame(test::commit_frame(lsn{0x100}, lsn{0x101}));
    script_.frame(test::begin_frame(lsn{0x200}));
    EXPECT_THAT(script_.frame(test::update_frame(table_oid, {}, {"a", "again", "{}"})),
                ElementsAre(HasSubstr("publish a;republish")));
}

/// What a trigger of the outbox does to other rows in the same transaction is an event.
TEST_F(RelayRepublish, LeavesNoMoreAloneThanTheRowsThatItHasWrittenBack) {
    control_is_described();
    mark("outbox", R"(["c","a"])", "id");
    mark("another", R"(["b"])", "id");
    EXPECT_THAT(script_.frame(test::update_frame(table_oid, {}, {"a", "again", "{}"})), IsEmpty());
    EXPECT_THAT(script_.frame(test::update_frame(table_oid, {}, {"b", "again", "{}"})),
                ElementsAre(HasSubstr("publish b;republish")));
}

TEST_F(RelayRepublish, LeavesTheTableAloneWhereAnotherRelayNamesItsRowsByAnotherColumn) {
    control_is_described();
    mark("outbox", R"(["17"])", "number");
    EXPECT_THAT(script_.frame(test::update_frame(table_oid, {}, {"b", "again", "{}"})), IsEmpty());
}

TEST_F(RelayRepublish, TakesNobodysWordForAWriteBackInATableOfTheName) {
    script_.frame(test::relation_frame(control_oid, "walrelay", "control", {"kind"}));
    script_.frame(test::insert_frame(control_oid, {"own"}));
    EXPECT_THAT(script_.frame(test::update_frame(table_oid, {}, {"a", "again", "{}"})),
                ElementsAre(HasSubstr("publish a;republish")));
}

TEST_F(RelayRepublish, TakesNobodysWordForAWriteBackInALogicalMessage) {
    script_.frame(test::message_frame("walrelay.write_back", ""));
    EXPECT_THAT(script_.frame(test::update_frame(table_oid, {}, {"a", "again", "{}"})),
                ElementsAre(HasSubstr("publish a;republish")));
}

TEST_F(RelayRepublish, TakesNoRequestInALogicalMessage) {
    const std::string request =
        R"({"table":{"schema":"public","name":"outbox"},"occasion":"retry-1-1",)"
        R"("columns":[{"name":"id","type":25,"value":"a"},{"name":"kind","type":25,"value":"k"},)"
        R"({"name":"payload","type":25,"value":"{}"}]})";
    EXPECT_THAT(script_.frame(test::message_frame("walrelay.retry", request)), IsEmpty());
}

TEST_F(RelayRepublish, PublishesTheRowOfADeadLetterAgain) {
    const std::string event =
        R"([{"name":"id","type":25,"value":"a"},{"name":"kind","type":25,"value":"k"},)"
        R"({"name":"payload","type":25,"value":"{}"}])";
    script_.frame(test::relation_frame(control_oid, "walrelay", "control",
                                       {"kind", "slot", "dead_letter", "retry", "source_schema",
                                        "source_table", "event", "transaction", "proof"}));
    const auto for_slot = [&](std::optional<std::string> slot) {
        return script_.frame(
            test::insert_frame(control_oid,
                               {"retry", slot, "7", "2", "public", "outbox", event,
                                test::control_transaction, test::proof_of_control()},
                               lsn{0x90}));
    };
    EXPECT_THAT(for_slot("another"), IsEmpty());
    EXPECT_THAT(for_slot("slot"), ElementsAre("publish a;retry-7-2@0"));
    EXPECT_THAT(script_.acks(1), IsEmpty());
    EXPECT_THAT(for_slot(std::nullopt), ElementsAre("publish a;retry-7-2@1"));
}

TEST_F(RelayRepublish, ARetryThatFailsNamesItsLetter) {
    script_.frame(test::relation_frame(control_oid, "walrelay", "control",
                                       {"kind", "slot", "dead_letter", "retry", "source_schema",
                                        "source_table", "event", "transaction", "proof"}));
    const std::string without_kind =
        R"([{"name":"id","type":25,"value":"a"},{"name":"kind","type":25,"value":null},)"
        R"({"name":"payload","type":25,"value":"{}"}])";
    script_.frame(test::insert_frame(control_oid,
                                     {"retry", "slot", "7", "2", "public", "outbox", without_kind,
                                      test::control_transaction, test::proof_of_control()},
                                     lsn{0x90}));
    EXPECT_EQ(script_.letter().retry, (letter_retry{7, 2}));
}

TEST_F(RelayRepublish, CountsTheEventLikeAnyOther) {
    script_.frame(test::insert_frame(table_oid, {"a", "new", "{}"}));
    EXPECT_THAT(script_.frame(test::update_frame(table_oid, {}, {"a", "again", "{}"})), IsEmpty());
    EXPECT_THAT(script_.acks(1), Contains("publish a;republish-0000000000000001-1@1"));
}

TEST_F(RelayRepublish, FetchesWhatTheWalDoesNotHold) {
    EXPECT_THAT(script_.frame(test::update_frame(table_oid, {}, {"a", "again", unchanged})),
                ElementsAre("fetch_row a"));
    EXPECT_FALSE(script_.machine().wants_frames());
    EXPECT_THAT(script_.row_is_fetched(table_row{{{"id", 25}, {"kind", 25}, {"payload", 25}},
                                                 {"a", "changed since", "large"}}),
                ElementsAre("publish a;republish-0000000000000001-0@0"));
    EXPECT_TRUE(script_.machine().wants_frames());
}

TEST_F(RelayRepublish, SetsARowAsideThatIsGone) {
    script_.frame(test::update_frame(table_oid, {}, {"a", "again", unchanged}));
    EXPECT_THAT(script_.row_is_fetched({}), ElementsAre("dead_letter 0/100.0"));
    script_.dead_letter_is_stored();
    script_.frame(test::commit_frame(lsn{0x100}, lsn{0x101}));
    EXPECT_EQ(script_.machine().confirmed(), lsn{0x101});
}

/// The rows are compared one by one, and the stream has that of the UPDATE, which is gone since.
TEST_F(RelayRepublish, SetsNoRowAsideThatTheStreamHas) {
    relay_script again{with_republish()};
    again.description = "walrelay slot=slot database=app system=7 timeline=1 rules=before";
    again.start();
    const commit_position where{lsn{0x100}, lsn{1}, 0};
    again.broker_connects(1, where);
    again.postgres_connects();
    const auto rows =
        std::make_shared<stored_rows>(stored_rows_request{{}, {relay_script::origin}});
    rows->add(1, position{relay_script::origin, where}, "a;republish-0000000000000001-0");
    rows->end(true, removed_messages::none);
    again.stored_is_read(rows);
    again.frame(test::begin_frame(lsn{0x100}));
    again.frame(test::update_frame(table_oid, {}, {"a", "again", unchanged}));
    EXPECT_THAT(again.row_is_fetched({}), IsEmpty());
    again.frame(test::commit_frame(lsn{0x100}, lsn{0x101}));
    EXPECT_EQ(again.machine().confirmed(), lsn{0x101});
}

TEST_F(RelayRepublish, SetsARowAsideThatIsTooLargeToBeFetched) {
    script_.frame(test::update_frame(table_oid, {}, {"a", "again", unchanged}));
    EXPECT_THAT(script_.row_is_fetched(table_row{{}, {}, 70'000'000}),
                ElementsAre("dead_letter 0/100.0"));
    script_.dead_letter_is_stored();
    script_.frame(test::commit_frame(lsn{0x100}, lsn{0x101}));
    EXPECT_EQ(script_.machine().confirmed(), lsn{0x101});
}

TEST_F(RelayRepublish, DoesNotFetchWhatTheStreamHas) {
    expect_passed_over("");
}

TEST_F(RelayRepublish, MeetsTheRowOfTheTailAlsoWhereTheWalDoesNotHoldItWhole) {
    expect_passed_over("a;republish-0000000000000001-0");
}

TEST_F(RelayRepublish, ForgetsTheFetchWithTheConnection) {
    script_.frame(test::update_frame(table_oid, {}, {"a", "again", unchanged}));
    script_.postgres_fails();
    EXPECT_THAT(script_.row_is_fetched({}), IsEmpty());
    script_.passes(1s);
    script_.postgres_connects();
    EXPECT_TRUE(script_.machine().wants_frames());
}

TEST_F(RelayRepublish, WritesTheRowBackAgain) {
    relay_script written{with_republish(true)};
    begin(written);
    written.frame(test::update_frame(table_oid, {}, {"a", "again", "{}"}));
    EXPECT_THAT(written.acks(1), Contains("write_back a"));
}

}  // namespace
}  // namespace walrelay::relay
