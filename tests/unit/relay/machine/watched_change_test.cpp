// What a change of the publication or of the tables means for rows that are written after it.
#include "relay/machine/watched_change.hpp"

#include "core/control.hpp"
#include "relay/machine/relay_words.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace walrelay::relay {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class WatchedChange : public testing::TestWithParam<output_plugin> {
protected:
    WatchedChange() {
        names.plugin = GetParam();
        names.publication = "walrelay";
        names.slot = "walrelay";
        names.tables = {{"public", "Orders"}, control_table()};
        before.version_number = 180000;
        before.publication = {.oid = 50, .version = "700", .inserts = true, .via_root = true};
        before.tables = {{.oid = 20000,
                          .kind = "r",
                          .published = true,
                          .entry = 60,
                          .columns = "id 23 -1",
                          .rights = "SELECT"},
                         {.oid = 20001, .kind = "r", .published = true, .entry = 61}};
        now = before;
        now.tables[0].now_called = table_name{"public", "Orders"};
    }

    [[nodiscard]] static bool publishes() { return GetParam() == output_plugin::pgoutput; }
    watched_table& table() { return now.tables.front(); }
    [[nodiscard]] watched_change judged() const { return judge_change(names, before, now); }

    /// Rows pass: a halt that is kept, which names the table and the way out.
    void expect_halt(const std::string& what, const std::string& fix) const {
        const auto change = judged();
        ASSERT_TRUE(change.consequence);
        EXPECT_EQ(change.consequence->code, errc::gap_found);
        EXPECT_THAT(change.consequence->what, HasSubstr(what));
        EXPECT_THAT(change.consequence->remedy, HasSubstr(fix));
        EXPECT_THAT(change.consequence->remedy, HasSubstr(how_to_close_a_gap));
    }
    void expect_read_again() const {
        const auto change = judged();
        ASSERT_TRUE(change.consequence);
        EXPECT_EQ(change.consequence->code, errc::table_unknown);
    }
    void expect_nothing() const {
        const auto change = judged();
        EXPECT_FALSE(change.consequence) << to_string(*change.consequence);
    }
    void expect_halt_with_pgoutput(const std::string& what, const std::string& fix) const {
        if (publishes()) {
            expect_halt(what, fix);
        } else {
            expect_nothing();
        }
    }

    watched_names names;
    watched_facts before;
    watched_facts now;
};

TEST_P(WatchedChange, AWriterThatMayDoMoreHasTheCatalogReadAgain) {
    before.writer = now.writer = "writer";
    expect_nothing();
    now.writer_powers = "has REPLICATION";
    expect_read_again();
}

TEST_P(WatchedChange, IsNoneWhereAllIsAsItWas) {
    expect_nothing();
    EXPECT_THAT(judged().remarks, IsEmpty());
}

TEST_P(WatchedChange, OfANameLosesRowsThatAreWrittenUnderTheOtherOne) {
    table() = {.now_called = table_name{"old", "orders"}};
    expect_halt("table public.Orders is called old.orders now",
                R"(ALTER TABLE "old"."orders" SET SCHEMA "public"; ALTER TABLE "public"."orders" )"
                R"(RENAME TO "Orders";)");
    table().now_called = table_name{"old", "Orders"};
    expect_halt("is called old.Orders now",
                R"(ALTER TABLE "old"."Orders" SET SCHEMA "public"; Then)");
}

TEST_P(WatchedChange, ThatSwapsTablesLosesRowsOfTheOldOne) {
    table().oid = 30000;
    table().published = false;
    table().entry = 0;
    table().now_called = table_name{"public", "orders_old"};
    expect_halt("the one that was relayed is called public.orders_old",
                publishes() ? R"(ALTER PUBLICATION "walrelay" ADD TABLE "public"."Orders";)"
                            : "let all writers write to the new table");
}

TEST_P(WatchedChange, ThatDropsATableLosesItsPlaceInThePublication) {
    table() = {};
    if (publishes()) {
        expect_halt("table public.Orders was dropped", R"(ALTER PUBLICATION "walrelay" ADD TABLE)");
        before.tables.front().entry = 0;
    }
    // Whoever connects again finds out whether there is one.
    expect_read_again();
}

TEST_P(WatchedChange, ThatMakesATableAgainLosesRowsUnlessAllTablesArePublished) {
    table().oid = 30000;
    table().now_called.reset();
    table().entry = 0;
    table().published = false;
    if (publishes()) {
        expect_halt("does not hold the new one", R"(ALTER PUBLICATION "walrelay" ADD TABLE)");
        table().published = true;
        table().entry = 62;
        expect_halt("only since it was put in", "in one transaction");
        table().born_published = true;
        expect_read_again();
        table().born_published = false;
        table().entry = 0;
        before.tables.front().entry = 0;
    }
    expect_read_again();
}

TEST_P(WatchedChange, OfATableThatWasMadeAgainWithPartitionsIsAHalt) {
    table().oid = 30000;
    table().kind = "p";
    table().entry = 62;
    table().born_published = true;
    table().now_called.reset();
    if (publishes()) {
        expect_read_again();
    } else {
        expect_halt("made again with partitions", "resume --heal");
        // Then wal2json sends the rows of all tables.
        before.tables.back().kind = "p";
        now.tables.back().kind = "p";
        expect_read_again();
    }
}

TEST_P(WatchedChange, OfPersistenceKeepsRowsOutOfTheWal) {
    table().unlogged = true;
    expect_halt("table public.Orders is unlogged now",
                R"(ALTER TABLE "public"."Orders" SET LOGGED;)");
}

TEST_P(WatchedChange, OfThePublicationsTablesLosesRows) {
    table().published = false;
    table().entry = 0;
    expect_halt_with_pgoutput("publication walrelay does not hold table public.Orders any more",
                              R"(ALTER PUBLICATION "walrelay" ADD TABLE "public"."Orders";)");
    table() = before.tables.front();
    table().entry = 99;
    expect_halt_with_pgoutput("was taken out of publication walrelay and put in again", "see that");
}

TEST_P(WatchedChange, OfAColumnListIsReadAgain) {
    table().entry = 99;
    table().column_list = "1 2";
    if (publishes()) {
        expect_read_again();
    } else {
        expect_nothing();
    }
}

TEST_P(WatchedChange, OfARowFilterLosesRows) {
    table().filtered = true;
    expect_halt_with_pgoutput(
        "has a row filter for table public.Orders",
        R"(DROP TABLE "public"."Orders"; ALTER PUBLICATION "walrelay" ADD TABLE)");
}

TEST_P(WatchedChange, OfThePublishedOperationsLosesRows) {
    now.publication.inserts = false;
    now.publication.version = "701";
    expect_halt_with_pgoutput("does not publish inserts any more", "SET (publish = 'insert');");
    now.publication.inserts = true;
    expect_halt_with_pgoutput("was altered and altered back", "publishes inserts");
    now.publication.others = "another owner";
    expect_nothing();
    EXPECT_THAT(judged().remarks, SizeIs(publishes() ? 1 : 0));
}

TEST_P(WatchedChange, OfPublishedUpdatesMattersWhereRowsArePublishedAgain) {
    before.publication.updates = true;
    now.publication.version = "701";
    expect_nothing();
    names.needs_updates = true;
    expect_halt_with_pgoutput("does not publish updates any more", "'insert, update'");
}

TEST_P(WatchedChange, ThatMakesThePublicationAgainLosesRows) {
    now.publication.oid = 51;
    table().entry = 90;
    expect_halt_with_pgoutput("publication walrelay was dropped and made again", "see that");
}

TEST_P(WatchedChange, ThatDropsThePublicationHaltsWhereTheSlotStands) {
    now.publication = {};
    for (auto& each : now.tables) {
        each.published = false;
        each.entry = 0;
    }
    const auto change = judged();
    ASSERT_EQ(change.consequence.has_value(), publishes());
    if (publishes()) {
        EXPECT_EQ(change.consequence->code, errc::postgres_unsuitable);
        EXPECT_THAT(change.consequence->what, HasSubstr("the publication walrelay is missing"));
        EXPECT_THAT(change.consequence->remedy, HasSubstr("--switch-plugin"));
    }
}

TEST_P(WatchedChange, IsNoneWhereTheRelayHasMadeThePublication) {
    before.publication = {};
    before.tables.front().published = false;
    before.tables.front().entry = 0;
    before.tables.back() = {};
    expect_nothing();
}

TEST_P(WatchedChange, ThatTakesTheControlTableOutLosesRequests) {
    now.tables.back().published = false;
    expect_halt_with_pgoutput("walrelay.control", R"(ADD TABLE "walrelay"."control";)");
    // It is made, and put in, by walrelay.
    now = before;
    before.tables.back() = {};
    expect_nothing();
}

TEST_P(WatchedChange, OfTheControlTableIsReadAgain) {
    now.tables.back().columns = "proof 25 -1";
    expect_read_again();
    now = before;
    now.tables.back().oid = 20009;
    expect_read_again();
}

TEST_P(WatchedChange, OfAPartitionThatIsNotPublishedLosesItsRows) {
    for (auto* const each : {&before.tables.front(), &table()}) {
        each->kind = "p";
        each->entry = 0;
        each->members = "20002 2200 orders_1";
    }
    table().members += ", 20003 2200 orders_2";
    expect_read_again();
    table().published = false;
    if (publishes()) {
        expect_halt("does not hold all partitions of table public.Orders", "ADD TABLE");
    }
}

TEST_P(WatchedChange, OfColumnsIsReadAgain) {
    table().columns = "id 20 -1";
    expect_read_again();
    EXPECT_THAT(judged().consequence->what, HasSubstr("the columns of table public.Orders"));
}

TEST_P(WatchedChange, OfRightsIsALine) {
    table().rights = "";
    expect_nothing();
    ASSERT_THAT(judged().remarks, SizeIs(1));
    EXPECT_THAT(judged().remarks.front(), HasSubstr("nothing (it was: SELECT)"));
}

TEST_P(WatchedChange, OfTheOwnerIsReadAgain) {
    table().owner = 16400;
    expect_read_again();
}

TEST_P(WatchedChange, OfWhatRunsWhereRowsAreChangedIsReadAgain) {
    table().code = "another";
    expect_read_again();
}

TEST_P(WatchedChange, OfWhoMayMakeTablesIsReadAgainWhereNamesDecide) {
    table().schema_rights = "10 {postgres=UC/postgres,app=UC/postgres}";
    if (publishes()) {
        expect_nothing();
    } else {
        expect_read_again();
    }
}

TEST_P(WatchedChange, OfSeveralThingsNamesThemAll) {
    names.tables.insert(names.tables.begin(), {"public", "first"});
    before.tables.insert(before.tables.begin(), before.tables.front());
    now.tables.insert(now.tables.begin(), now.tables.front());
    now.tables[0].unlogged = true;
    now.tables[1].unlogged = true;
    now.tables[1].columns = "";
    expect_halt("table public.first is unlogged now", R"("public"."first" SET LOGGED;)");
    expect_halt("table public.Orders is unlogged now", R"("public"."Orders" SET LOGGED; Then)");
}

INSTANTIATE_TEST_SUITE_P(, WatchedChange,
                         testing::Values(output_plugin::pgoutput, output_plugin::wal2json),
                         [](const auto& each) { return to_string(each.param); });

}  // namespace
}  // namespace walrelay::relay
