#include "tasks/cleanup/row_rules.hpp"

#include "nats/requests/cleanup_cursor.hpp"
#include "relay/machine/stream_owner.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace walrelay::tasks {
namespace {

constexpr marked_ids mark{lsn{0x200}};
constexpr marked_ids kept_mark{lsn{0x200}, true};
constexpr lsn wal_end{0x900};

row_rules now() {
    return {"0123456789abcdef", 16384, 7713434131630205156U};
}
row_rules since(lsn at) {
    auto rules = now();
    rules.since = at;
    return rules;
}
row_rules after(const row_rules& kept) {
    return rules_after(now(), to_string(kept), mark, wal_end);
}

TEST(RowRules, AreReadAsTheyWereWritten) {
    const auto rules = since(lsn{0xABC});
    EXPECT_EQ(to_string(rules), "rules=0123456789abcdef.4000.6b0b9f79a63128e4.abc");
    EXPECT_EQ(parse_row_rules(to_string(rules)), rules);
    for (const auto* const wrong :
         {"", "rules=", "rules=a.1.2", "rules=a.1.2.3.4", "rules=a.x.2.3", "rules=.1.2.3",
          "a.1.2.3", "rules=a.1.2.3 ", "rules=a.123456789.2.3"}) {
        EXPECT_EQ(parse_row_rules(wrong), std::nullopt) << wrong;
    }
}

TEST(RowRules, HoldFromWhereTheMarkSaysForANewConsumer) {
    EXPECT_EQ(rules_after(now(), std::nullopt, mark, wal_end), since(mark.since));
}

TEST(RowRules, AreTakenOverFromAVersionThatKeptNone) {
    const marked_ids unknown{lsn{0x50}, false};
    EXPECT_EQ(rules_after(now(), std::string(), unknown, wal_end), since(lsn{}));
}

/// What the first walk of a new version keeps, the next one must not take for older.
TEST(RowRules, OfAVersionThatKeptNoneAreThoseOfTheMark) {
    const marked_ids kept{lsn{0x50}, true};
    const auto first = rules_after(now(), std::string(), kept, wal_end);
    EXPECT_EQ(first, since(lsn{0x50}));
    EXPECT_EQ(rules_after(now(), to_string(first), kept, wal_end), first);
}

TEST(RowRules, HoldAsBeforeWhereNothingHasChanged) {
    EXPECT_EQ(after(since(lsn{0x100})), since(lsn{0x100}));
}

TEST(RowRules, HoldOnlySinceTheyHaveChanged) {
    auto of_before = since(lsn{0x100});
    of_before.fingerprint = "fedcba9876543210";
    EXPECT_EQ(after(of_before), since(wal_end))
        << "the slot need not have confirmed what is stored";
    of_before.since = lsn{0xA00};
    EXPECT_EQ(after(of_before), since(lsn{0xA00}));
}

/// The consumer, which is all that the clean-up had, shows no more than that they were these once.
TEST(RowRules, HoldOnlySinceTheMarkSaysSoWhereOthersWereTakenBack) {
    const auto kept = to_string(since(lsn{0x100}));
    EXPECT_EQ(rules_after(now(), kept, kept_mark, wal_end), since(kept_mark.since));
    EXPECT_EQ(rules_after(now(), kept, {lsn{0x80}, true}, wal_end), since(lsn{0x100}));
    EXPECT_EQ(rules_after(now(), kept, {lsn{0x99900}, true}, wal_end), since(wal_end));
    EXPECT_EQ(rules_after(now(), kept, mark, wal_end), since(lsn{0x100}))
        << "a relay without a mark begins anew with each start";
}

TEST(RowRules, AreOfWhatMakesAnId) {
    outbox_table table{.table = {"public", "orders"}, .message_id = "{id}"};
    const auto before = relay::fingerprint_of_ids(table);
    table.republish = republish_rule{"status", "again"};
    table.columns.version = "number";
    table.columns.id = "id";
    EXPECT_EQ(relay::fingerprint_of_ids(table), before);
    table.message_id = "{reference}";
    EXPECT_NE(relay::fingerprint_of_ids(table), before);
}

TEST(RowRules, HoldFromNowOnWhereTheTableIsAnotherOne) {
    auto of_before = since(lsn{0x100});
    of_before.table = 16390;
    EXPECT_EQ(after(of_before), since(wal_end));
}

TEST(RowRules, HoldFromNowOnWhereSomebodyHasWrittenOverThem) {
    EXPECT_EQ(rules_after(now(), "of mine", mark, wal_end), since(wal_end));
}

/// No text, or another one, is not that of a version which kept none.
TEST(RowRules, AreTakenOverFromNobodyElsesDescription) {
    const std::string purpose = "rows of walrelay's outbox that are due for deletion";
    EXPECT_EQ(nats::note_in(purpose), "");
    EXPECT_EQ(nats::note_in(purpose + "; " + to_string(since(mark.since))),
              to_string(since(mark.since)));
    for (const auto& other : {std::string(), std::string("x"), purpose + "!", "my " + purpose,
                              to_string(since(mark.since))}) {
        EXPECT_EQ(rules_after(now(), nats::note_in(other), mark, wal_end), since(wal_end)) << other;
    }
}

TEST(RowRules, OfAnotherServerSayNothingOfItsPositions) {
    auto of_before = since(lsn{0x99900});
    of_before.system_identifier = 1;
    EXPECT_EQ(after(of_before), since(mark.since));
    EXPECT_EQ(rules_after(now(), to_string(of_before), {lsn{0x99900}}, wal_end), since(wal_end))
        << "nor does the mark, until the stream has been compared";
}

TEST(RowRules, AreOlderThanWhatWasCommittedSince) {
    const auto rules = since(lsn{0x200});
    EXPECT_TRUE(came_before(rules, {lsn{0x1F8}}));
    EXPECT_FALSE(came_before(rules, {lsn{0x200}}));
    // A row of a snapshot lies just in front of where the slot begins.
    EXPECT_FALSE(came_before(rules, {before_slot(lsn{0x200})}));
    EXPECT_TRUE(came_before(rules, {before_slot(lsn{0x1F8})}));
}

}  // namespace
}  // namespace walrelay::tasks
