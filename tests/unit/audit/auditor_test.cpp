#include "audit/auditor.hpp"

#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace walrelay::audit {
namespace {

std::string position_text(std::uint64_t commit) {
    return to_string(position{{7, 1}, {lsn{commit}, {}, 0}});
}

class Auditor : public testing::Test {
protected:
    struct special {
        bool others_write = false;
        bool some_rows = false;
        lsn since = {};
        bool excuses_removed = false;
    };

    void begin(std::size_t named_limit = 20, std::uint64_t bucket_bytes = 1'000'000) {
        begin({}, named_limit, bucket_bytes);
    }
    void begin(special what, std::size_t named_limit = 20, std::uint64_t bucket_bytes = 1'000'000) {
        audit_options how;
        how.folder = folder_.path();
        how.tables = {"public.a", "public.b"};
        how.named_limit = named_limit;
        how.bucket_bytes = bucket_bytes;
        how.chunk_bytes = 64;
        how.others_write = what.others_write;
        how.some_rows = what.some_rows;
        how.since = what.since;
        how.excuses_removed = what.excuses_removed;
        auto made = auditor::make(std::move(how));
        ASSERT_TRUE(made);
        auditor_ = std::move(*made);
        sequence_ = 0;
    }

    void row(std::string_view id, std::uint32_t table = 0) {
        ASSERT_TRUE(auditor_->add_row(table, id));
    }
    /// In a table that is read in the order of time; `time` is none of the row before it.
    void row_of_a_time(std::string_view id, std::uint32_t table = 0) {
        ASSERT_TRUE(auditor_->add_row(table, id, {.begins_a_time = true}));
    }
    /// The next message, in order.
    void sent(std::string_view id) { sent_at(id, sequence_ + 1); }
    void sent_at(std::string_view id, std::uint64_t commit) {
        add({++sequence_, "s", id, position_text(commit)});
    }
    void add(const streamed_message& one) { ASSERT_TRUE(auditor_->add_message(one)); }
    void sift() { ASSERT_TRUE(auditor_->sift()); }
    void dead(std::string_view id, std::optional<std::uint32_t> table = 0) {
        ASSERT_TRUE(auditor_->add_dead_letter(table, id));
    }
    report conclude(finding_kind open_ones = finding_kind::missing) {
        auto found = auditor_->conclude(open_ones);
        EXPECT_TRUE(found);
        return found ? *found : report{};
    }
    report sift_and_conclude() {
        sift();
        return conclude();
    }
    auditor& subject() { return *auditor_; }
    void skip_sequences(std::uint64_t count) { sequence_ += count; }

private:
    test::temporary_folder folder_{"audit"};
    std::unique_ptr<auditor> auditor_;
    std::uint64_t sequence_ = 0;
};

TEST_F(Auditor, FindsNothingWhereNothingIs) {
    begin();
    EXPECT_TRUE(sift_and_conclude().clean());
}

TEST_F(Auditor, FindsNothingWhereEveryRowIsThereOnce) {
    begin();
    for (const auto* const id : {"1", "2", "3"}) {
        row(id);
        sent(id);
    }
    const auto found = sift_and_conclude();
    EXPECT_TRUE(found.clean());
    EXPECT_EQ(found.rows, 3U);
    EXPECT_EQ(found.messages, 3U);
    EXPECT_EQ(found.without_row, 0U);
}

TEST_F(Auditor, NamesAMissingRow) {
    begin();
    row("1");
    row("2", 1);
    sent("1");
    const auto found = sift_and_conclude();
    EXPECT_FALSE(found.clean());
    EXPECT_EQ(found.of(finding_kind::missing).count, 1U);
    const auto& one = found.of(finding_kind::missing).named.at(0);
    EXPECT_EQ(one.table, "public.b");
    EXPECT_EQ(one.id, "2");
}

/// Messages 1 and 2 are gone from the stream's beginning.
TEST_F(Auditor, ExcusesTheOldestRowsOfAStreamThatHasRemovedMessages) {
    begin({.excuses_removed = true});
    for (const auto* const id : {"1", "2", "3", "4", "5"}) {
        row_of_a_time(id);
    }
    skip_sequences(2);
    sent("3");
    sent("5");
    subject().expect_removed(2);
    const auto found = sift_and_conclude();
    EXPECT_EQ(found.removed_rows, 2U);
    ASSERT_EQ(found.of(finding_kind::missing).count, 1U);
    EXPECT_EQ(found.of(finding_kind::missing).named.at(0).id, "4");
}

TEST_F(Auditor, ExcusesNoMoreRowsThanMessagesWereRemoved) {
    begin({.excuses_removed = true});
    for (const auto* const id : {"1", "2", "3"}) {
        row_of_a_time(id);
    }
    sent_at("3", 9);
    subject().expect_removed(1);
    const auto found = sift_and_conclude();
    EXPECT_EQ(found.removed_rows, 1U);
    ASSERT_EQ(found.of(finding_kind::missing).count, 1U);
    EXPECT_EQ(found.of(finding_kind::missing).named.at(0).id, "2");
}

TEST_F(Auditor, ExcusesOfTheMiddleAsManyRowsThatWereStoredAsMessagesAreGone) {
    for (const std::uint64_t holes : {1U, 3U}) {
        begin({.excuses_removed = true});
        for (const auto* const id : {"1", "2", "3", "4", "5"}) {
            ASSERT_TRUE(subject().add_row(0, id, {.begins_a_time = true, .was_stored = *id < '4'}));
        }
        sent("1");
        skip_sequences(holes);
        sent("5");
        subject().expect_removed(0, true);
        EXPECT_EQ(sift_and_conclude().removed_rows, std::min<std::uint64_t>(holes, 2));
    }
}

TEST_F(Auditor, ExcusesOneRowForOneRemovedMessageWhateverTheTable) {
    begin({.excuses_removed = true});
    for (const std::uint32_t table : {0U, 1U}) {
        for (const auto* const id : {"1", "2"}) {
            row_of_a_time((table == 0 ? "a" : "b") + std::string(id), table);
        }
    }
    skip_sequences(1);
    sent("a2");
    sent("b2");
    subject().expect_removed(1);
    const auto found = sift_and_conclude();
    EXPECT_EQ(found.removed_rows, 1U);
    EXPECT_EQ(found.of(finding_kind::missing).count, 1U) << "one message cannot have been of two";
}

TEST_F(Auditor, ExcusesNoRowOfAStreamThatHasRemovedNothing) {
    begin({.excuses_removed = true});
    row_of_a_time("1");
    row_of_a_time("2");
    sent("2");
    subject().expect_removed(0);
    EXPECT_EQ(sift_and_conclude().of(finding_kind::missing).count, 1U);
}

/// Their order does not tell, or they are of the same time.
TEST_F(Auditor, ExcusesNoRowThatMayNotBeOlder) {
    begin({.excuses_removed = true});
    row("1");
    row("2");
    row_of_a_time("3", 1);
    row("4", 1);
    sent("2");
    sent("4");
    subject().expect_removed(9);
    const auto found = sift_and_conclude();
    EXPECT_EQ(found.removed_rows, 0U);
    EXPECT_EQ(found.of(finding_kind::missing).count, 2U);
}

/// Nothing is known of where in time the stream begins.
TEST_F(Auditor, ExcusesRowsOfATableThatTheStreamLacksWhereTheyAreKnownToHaveBeenStored) {
    begin({.excuses_removed = true});
    ASSERT_TRUE(subject().add_row(0, "1", {.begins_a_time = true, .was_stored = true}));
    row_of_a_time("2");
    row_of_a_time("3", 1);
    subject().expect_removed(5);
    const auto found = sift_and_conclude();
    EXPECT_EQ(found.removed_rows, 1U);
    ASSERT_EQ(found.of(finding_kind::missing).count, 2U);
    EXPECT_EQ(found.of(finding_kind::missing).named.at(0).id, "2");
}

TEST_F(Auditor, ExcusesNoRowThatIsADeadLetterOrThatTheSlotBrings) {
    begin({.excuses_removed = true});
    for (const auto* const id : {"1", "2", "3"}) {
        row_of_a_time(id);
    }
    sent("3");
    subject().expect_removed(5);
    sift();
    dead("1");
    ASSERT_TRUE(subject().add_awaited("2"));
    const auto found = conclude();
    EXPECT_EQ(found.removed_rows, 0U);
    EXPECT_EQ(found.dead_lettered, 1U);
    EXPECT_EQ(found.of(finding_kind::undelivered).count, 1U);
}

TEST_F(Auditor, CallsOpenRowsWhatItIsTold) {
    begin();
    row("1");
    sift();
    EXPECT_EQ(subject().open_rows(), 1U);
    const auto found = conclude(finding_kind::undelivered);
    EXPECT_EQ(found.of(finding_kind::missing).count, 0U);
    EXPECT_EQ(found.of(finding_kind::undelivered).count, 1U);
}

TEST_F(Auditor, AMessageThatArrivesLaterSettlesItsRow) {
    begin();
    row("1");
    row("2");
    sent("1");
    sift();
    EXPECT_FALSE(subject().seems_settled());
    sent("of a row that is younger than the snapshot");
    EXPECT_FALSE(subject().seems_settled());
    sent("2");
    EXPECT_TRUE(subject().seems_settled());
    const auto found = conclude(finding_kind::undelivered);
    EXPECT_TRUE(found.clean());
    EXPECT_EQ(found.without_row, 0U);
    EXPECT_EQ(found.messages, 3U);
}

TEST_F(Auditor, ADeadLetterSettlesItsRow) {
    begin();
    row("1");
    row("2");
    sift();
    dead("2");
    dead("of another table", std::nullopt);
    const auto found = conclude();
    EXPECT_EQ(found.dead_lettered, 1U);
    EXPECT_EQ(found.of(finding_kind::missing).count, 1U);
    EXPECT_EQ(found.of(finding_kind::missing).named.at(0).id, "1");
}

TEST_F(Auditor, FindsAMessageThatIsThereTwice) {
    begin();
    row("1");
    sent("1");
    sent("2");
    sent("1");
    sent("2");
    sent("2");
    const auto found = sift_and_conclude().of(finding_kind::twice);
    EXPECT_EQ(found.count, 3U);
    ASSERT_EQ(found.named.size(), 2U);
    EXPECT_EQ(found.named[0].sequence, 3U);
    EXPECT_EQ(found.named[0].table, "public.a");
    EXPECT_EQ(found.named[0].position, position_text(3));
    EXPECT_EQ(found.named[0].detail, "first at sequence 1, position " + position_text(1));
    EXPECT_EQ(found.named[1].id, "2");
    EXPECT_EQ(found.named[1].sequence, 5U);
}

TEST_F(Auditor, FindsAMessageOutOfOrder) {
    begin();
    sent_at("1", 10);
    sent_at("2", 9);
    const auto found = sift_and_conclude().of(finding_kind::out_of_order);
    EXPECT_EQ(found.count, 1U);
    EXPECT_EQ(found.named.at(0).sequence, 2U);
    EXPECT_EQ(found.named.at(0).position, position_text(9));
    EXPECT_EQ(found.named.at(0).detail, "after sequence 1 at position " + position_text(10));
}

TEST_F(Auditor, AMessageWithTheIdOfNoRowIsForeignUnlessWalrelayWroteIt) {
    begin();
    row("1");
    sent("1");
    add({2, "a.b", "2", ""});
    add({3, "a.b", "2", "7.1.10.0"});
    add({4, "a.b", "", position_text(4)});
    add({5, "a.b", "", ""});
    const auto found = sift_and_conclude();
    EXPECT_EQ(found.of(finding_kind::foreign).count, 4U);
    EXPECT_EQ(found.of(finding_kind::twice).count, 0U);
    EXPECT_EQ(found.of(finding_kind::missing).count, 0U);
    const auto& named = found.of(finding_kind::foreign).named;
    ASSERT_EQ(named.size(), 3U) << "one for each id";
    EXPECT_EQ(named[0].detail, "no Walrelay-Position, and no row has this id");
    EXPECT_EQ(named[0].id, "2");
    EXPECT_EQ(named[1].detail, "no Nats-Msg-Id, subject a.b");
    EXPECT_EQ(named[2].detail, "no Walrelay-Position, subject a.b");
}

TEST_F(Auditor, AMessageWithARowsIdIsADeliveryWhoeverSentIt) {
    begin();
    row("1");
    row("2");
    row("3");
    add({1, "s", "1", ""});
    add({2, "s", "2", "7.1.10.0"});
    skip_sequences(2);
    sent("3");
    const auto found = sift_and_conclude();
    EXPECT_TRUE(found.clean());
    EXPECT_EQ(found.by_others, 2U);
    EXPECT_EQ(found.without_row, 0U);
}

TEST_F(Auditor, AMessageOfSomebodyElseThatArrivesLaterSettlesItsRow) {
    begin();
    row("1");
    sift();
    add({1, "s", "1", ""});
    EXPECT_TRUE(subject().seems_settled());
    EXPECT_TRUE(conclude(finding_kind::undelivered).clean());
}

TEST_F(Auditor, ARowThatAPollerAndWalrelayHaveSentIsThereTwice) {
    begin();
    row("1");
    add({1, "s", "1", ""});
    skip_sequences(1);
    sent("1");
    const auto found = sift_and_conclude().of(finding_kind::twice);
    EXPECT_EQ(found.count, 1U);
    EXPECT_EQ(found.named.at(0).sequence, 2U);
    EXPECT_EQ(found.named.at(0).detail, "first at sequence 1, not by walrelay");
}

TEST_F(Auditor, WhereNotAllRowsAreComparedAStrangersMessageIsNotJudged) {
    begin({.some_rows = true});
    row("1");
    sent("1");
    add({2, "s", "of a row that was left out", ""});
    const auto found = sift_and_conclude();
    EXPECT_TRUE(found.clean());
    EXPECT_EQ(found.not_judged, 1U);
}

TEST_F(Auditor, WhatStandsBeforeTheFirstOneSinceIsNoFindingButSettlesItsRow) {
    begin({.since = lsn{100}});
    row("1");
    row("2");
    add({1, "s", "left out", ""});
    add({2, "s", "", ""});
    add({3, "s", "1", ""});
    skip_sequences(3);
    sent_at("left out, too", 50);
    sent_at("and this", 40);
    sent_at("2;replay-1", 60);
    sent_at("3", 100);
    add({8, "s", "after it", ""});
    const auto found = sift_and_conclude();
    EXPECT_EQ(found.earlier, 6U);
    EXPECT_EQ(found.of(finding_kind::missing).count, 0U);
    EXPECT_EQ(found.of(finding_kind::out_of_order).count, 0U);
    EXPECT_EQ(found.of(finding_kind::twice).count, 0U);
    EXPECT_EQ(found.of(finding_kind::foreign).count, 1U);
    EXPECT_EQ(found.of(finding_kind::foreign).named.at(0).id, "after it");
}

TEST_F(Auditor, OfCopiesFromBeforeOnlyThoseBesideOneSinceCountAsTwice) {
    begin({.since = lsn{100}});
    row("1");
    row("2");
    for (const auto* const id : {"1", "1", "2"}) {
        sent_at(id, 50);
    }
    sent_at("2", 100);
    const auto found = sift_and_conclude().of(finding_kind::twice);
    EXPECT_EQ(found.count, 1U);
    EXPECT_EQ(found.named.at(0).id, "2");
}

TEST_F(Auditor, BesideOtherWritersNeitherTheirMessagesNorTheOrderAreFindings) {
    begin({.others_write = true});
    row("a");
    row("b");
    row("c");
    sent_at("b", 20);
    sent_at("a", 10);
    skip_sequences(1);
    add({3, "s", "theirs", ""});
    const auto report = sift_and_conclude();
    EXPECT_EQ(report.of(finding_kind::out_of_order).count, 0U);
    EXPECT_EQ(report.of(finding_kind::foreign).count, 0U);
    EXPECT_EQ(report.of(finding_kind::missing).count, 1U);
}

TEST_F(Auditor, ARowOfTheSameIdInEachOfTwoTablesNeedsTwoMessages) {
    begin();
    row("1", 0);
    row("1", 1);
    row("2", 0);
    row("2", 1);
    sent("1");
    sent("1");
    sent("2");
    const auto found = sift_and_conclude();
    EXPECT_EQ(found.of(finding_kind::twice).count, 0U);
    EXPECT_EQ(found.of(finding_kind::missing).count, 1U);
    EXPECT_EQ(found.of(finding_kind::missing).named.at(0).id, "2");
}

TEST_F(Auditor, ARowPublishedAgainIsNoDuplicate) {
    begin();
    row("1");
    sent("1");
    sent("1;replay-1");
    sent("1;replay-1;retry-2-1");
    const auto found = sift_and_conclude();
    EXPECT_TRUE(found.clean());
    EXPECT_EQ(found.republished, 2U);
    EXPECT_EQ(found.without_row, 0U);
}

TEST_F(Auditor, ARowPublishedAgainIsDelivered) {
    begin();
    row("1");
    sent("1;replay-1");
    sift();
    EXPECT_TRUE(subject().seems_settled());
    EXPECT_TRUE(conclude().clean());
}

TEST_F(Auditor, AnotherRowWhoseIdBeginsTheSameIsNoPublicationOfIt) {
    begin();
    row("1");
    row("1;2");
    sent("1;2");
    const auto found = sift_and_conclude().of(finding_kind::missing);
    EXPECT_EQ(found.count, 1U);
    EXPECT_EQ(found.named.at(0).id, "1");
}

TEST_F(Auditor, CountsMessagesWithoutARow) {
    begin();
    sent("1");
    sent("2;replay-1");
    const auto found = sift_and_conclude();
    EXPECT_TRUE(found.clean());
    EXPECT_EQ(found.without_row, 2U);
}

TEST_F(Auditor, CountsDeletedMessages) {
    begin();
    skip_sequences(4);
    sent("1");
    skip_sequences(2);
    sent("2");
    const auto found = sift_and_conclude();
    EXPECT_EQ(found.first_sequence, 5U);
    EXPECT_EQ(found.deleted_messages, 2U);
}

TEST_F(Auditor, NamesTheFirstFindingsAndCountsAll) {
    begin(2);
    for (int id = 0; id < 100; ++id) {
        row(std::to_string(id));
    }
    const auto found = sift_and_conclude().of(finding_kind::missing);
    EXPECT_EQ(found.count, 100U);
    ASSERT_EQ(found.named.size(), 2U);
    EXPECT_EQ(found.named[0].id, "0");
    EXPECT_EQ(found.named[1].id, "1");
}

TEST_F(Auditor, NamesNoneWhereNoneIsAskedFor) {
    begin(0);
    row("1");
    const auto found = sift_and_conclude().of(finding_kind::missing);
    EXPECT_EQ(found.count, 1U);
    EXPECT_TRUE(found.named.empty());
}

TEST_F(Auditor, TakesAnyBytesAsAnId) {
    begin();
    const std::string odd("a\0\n\xff", 4);
    row(odd);
    row("a");
    sent(odd);
    const auto found = sift_and_conclude().of(finding_kind::missing);
    EXPECT_EQ(found.count, 1U);
    EXPECT_EQ(found.named.at(0).id, "a");
}

/// Rows, messages and dead letters at random, counted the simple way as well.
struct random_case {
    std::map<std::string, std::uint64_t> rows;
    std::map<std::string, std::uint64_t> messages;
    std::map<std::string, std::uint64_t> dead;

    explicit random_case(unsigned seed) {
        std::mt19937 random(seed);
        for (int count = 0; count < 2000; ++count) {
            const auto id = "id " + std::to_string(random() % 700);
            ++(random() % 2 == 0 ? rows : random() % 8 == 0 ? dead : messages)[id];
        }
    }

    static std::uint64_t of(const std::map<std::string, std::uint64_t>& counts,
                            const std::string& id) {
        const auto found = counts.find(id);
        return found == counts.end() ? 0 : found->second;
    }

    [[nodiscard]] std::uint64_t missing() const {
        std::uint64_t total = 0;
        for (const auto& [id, count] : rows) {
            const auto covered = of(messages, id) + of(dead, id);
            total += count > covered ? count - covered : 0;
        }
        return total;
    }

    [[nodiscard]] std::uint64_t twice() const {
        std::uint64_t total = 0;
        for (const auto& [id, count] : messages) {
            const auto wanted = std::max<std::uint64_t>(of(rows, id), 1);
            total += count > wanted ? count - wanted : 0;
        }
        return total;
    }
};

class AuditorWithLittleMemory : public Auditor, public testing::WithParamInterface<unsigned> {};

TEST_P(AuditorWithLittleMemory, CountsAsOneWithMuch) {
    const random_case all(GetParam());
    for (const std::uint64_t bucket_bytes : {50U, 500U, 1'000'000U}) {
        begin(20, bucket_bytes);
        for (const auto& [id, count] : all.rows) {
            for (std::uint64_t time = 0; time < count; ++time) {
                row(id);
            }
        }
        for (const auto& [id, count] : all.messages) {
            for (std::uint64_t time = 0; time < count; ++time) {
                sent(id);
            }
        }
        sift();
        for (const auto& [id, count] : all.dead) {
            for (std::uint64_t time = 0; time < count; ++time) {
                dead(id);
            }
        }
        const auto found = conclude();
        EXPECT_EQ(found.of(finding_kind::missing).count, all.missing()) << bucket_bytes;
        EXPECT_EQ(found.of(finding_kind::twice).count, all.twice()) << bucket_bytes;
        EXPECT_EQ(found.of(finding_kind::out_of_order).count, 0U);
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, AuditorWithLittleMemory, testing::Range(1U, 21U));

TEST_F(Auditor, TellsRowsThatTheSlotStillBringsFromMissingOnes) {
    begin();
    for (const auto* const id : {"stored", "waits", "gone", "dead"}) {
        row(id);
    }
    sent("stored");
    sift();
    dead("dead");
    ASSERT_TRUE(subject().add_awaited("waits"));
    // Of a row that is stored already, and of one that was deleted since.
    ASSERT_TRUE(subject().add_awaited("stored"));
    ASSERT_TRUE(subject().add_awaited("deleted"));
    const auto found = conclude();
    ASSERT_EQ(found.of(finding_kind::missing).count, 1U);
    EXPECT_EQ(found.of(finding_kind::missing).named.at(0).id, "gone");
    ASSERT_EQ(found.of(finding_kind::undelivered).count, 1U);
    EXPECT_EQ(found.of(finding_kind::undelivered).named.at(0).id, "waits");
    EXPECT_EQ(found.dead_lettered, 1U);
}

}  // namespace
}  // namespace walrelay::audit
