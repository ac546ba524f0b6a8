// Somebody changes, under a relay that runs, what its decisions rest on: publication, tables, types
// of columns. Where rows would pass, it halts before the slot is told, or within seconds, and names
// the table and the way out; where only its knowledge is old, it learns anew.
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"

#include <gmock/gmock.h>

namespace walrelay::test {
namespace {

using testing::HasSubstr;

class Facts : public e2e_test {
protected:
    [[nodiscard]] bool publishes() const { return bench.plugin() == "pgoutput"; }
    [[nodiscard]] std::string log() { return bench.relay().log(); }

    void start_with_table() {
        bench.create_table();
        bench.start();
        bench.execute(insert_event(1));
        ASSERT_TRUE(bench.wait_for_messages(1));
    }
    [[nodiscard]] std::string for_publication(const std::string& sql) const {
        auto text = sql;
        for (auto at = text.find('%'); at != std::string::npos; at = text.find('%')) {
            text.replace(at, 1, '"' + bench.name() + '"');
        }
        return text;
    }
    void expect_halt(const std::string& what, const std::string& fix) {
        ASSERT_EQ(bench.relay().process().wait_exit(patience), 3) << log();
        EXPECT_THAT(log(), HasSubstr(what));
        EXPECT_THAT(log(), HasSubstr(fix));
        EXPECT_THAT(log(), HasSubstr("walrelay verify"));
        EXPECT_EQ(bench.session().value_of("SELECT count(*) FROM walrelay.halt"), "1");
        // A restart does not go on past it.
        EXPECT_EQ(bench.command({"run"}).exit_code, 3);
    }
    void expect_way_out(const std::string& fix) {
        bench.execute(for_publication(fix));
        const auto plain = bench.command({"resume"});
        if (plain.exit_code != 0) {
            // Rows were written meanwhile that the slot does not bring.
            EXPECT_THAT(plain.output, HasSubstr("walrelay resume --heal"));
            EXPECT_EQ(bench.command({"resume", "--heal"}).exit_code, 0);
        }
        bench.start();
        bench.execute(insert_event(9));
        EXPECT_TRUE(eventually(patience, [&] {
            const auto seen = bench.events();
            return !seen.empty() && seen.back().id == event_id(9);
        })) << log();
    }
    [[nodiscard]] bool is_read_again() {
        return bench.relay().wait_for_log("the catalog is read again", patience);
    }
};

TEST_P(Facts, TableThatIsRenamedHalts) {
    start_with_table();
    bench.execute("ALTER TABLE outbox_events RENAME TO kept; " +
                  insert_event(2, "order-1", "kept"));
    expect_halt("public.outbox_events",
                R"(ALTER TABLE "public"."kept" RENAME TO "outbox_events";)");
    expect_way_out("ALTER TABLE public.kept RENAME TO outbox_events");
}

TEST_P(Facts, TableThatIsMovedHalts) {
    start_with_table();
    bench.execute("CREATE SCHEMA elsewhere; ALTER TABLE outbox_events SET SCHEMA elsewhere");
    expect_halt("table public.outbox_events is called elsewhere.outbox_events now",
                R"(ALTER TABLE "elsewhere"."outbox_events" SET SCHEMA "public";)");
    expect_way_out("ALTER TABLE elsewhere.outbox_events SET SCHEMA public");
}

TEST_P(Facts, TablesThatAreSwappedHalt) {
    start_with_table();
    bench.execute("CREATE TABLE other (LIKE outbox_events INCLUDING ALL)");
    bench.execute(
        "BEGIN; ALTER TABLE outbox_events RENAME TO old; ALTER TABLE other RENAME TO "
        "outbox_events; COMMIT");
    expect_halt("the one that was relayed is called public.old", "let all writers write");
    expect_way_out(publishes() ? "ALTER PUBLICATION % ADD TABLE outbox_events" : "SELECT 1");
}

TEST_P(Facts, TableThatIsMadeUnloggedHalts) {
    start_with_table();
    // PostgreSQL refuses it for a table that a publication names.
    bench.execute((publishes() ? for_publication("ALTER PUBLICATION % DROP TABLE outbox_events; ")
                               : std::string()) +
                  "ALTER TABLE outbox_events SET UNLOGGED; " + insert_event(2));
    expect_halt("table public.outbox_events is unlogged now",
                R"(ALTER TABLE "public"."outbox_events" SET LOGGED;)");
    bench.execute("ALTER TABLE outbox_events SET LOGGED");
    expect_way_out(publishes() ? "ALTER PUBLICATION % ADD TABLE outbox_events" : "SELECT 1");
}

TEST_P(Facts, TableThatIsMadeAgainIsReadAgainOrHalts) {
    start_with_table();
    bench.execute("DROP TABLE outbox_events; " + create_outbox_events());
    if (publishes()) {
        bench.execute(insert_event(2));
        expect_halt("table public.outbox_events was dropped and made again",
                    R"(ADD TABLE "public"."outbox_events";)");
        expect_way_out("ALTER PUBLICATION % ADD TABLE outbox_events");
    } else {
        ASSERT_TRUE(is_read_again()) << log();
        bench.execute(insert_event(2));
        EXPECT_TRUE(bench.wait_for_messages(2)) << log();
    }
}

TEST_P(Facts, PublicationWithoutTheTableHalts) {
    start_with_table();
    if (!publishes()) {
        // It needs none, and goes on.
        bench.execute(
            "CREATE PUBLICATION nobodys FOR TABLE outbox_events; "
            "ALTER PUBLICATION nobodys DROP TABLE outbox_events");
        bench.execute(insert_event(2));
        EXPECT_TRUE(bench.wait_for_messages(2));
        return;
    }
    bench.execute(for_publication("ALTER PUBLICATION % DROP TABLE outbox_events"));
    bench.execute(insert_event(2));
    expect_halt("does not hold table public.outbox_events any more",
                R"(ADD TABLE "public"."outbox_events";)");
    expect_way_out("ALTER PUBLICATION % ADD TABLE outbox_events");
}

TEST_P(Facts, PublicationThatPublishesNoInsertsHalts) {
    start_with_table();
    if (!publishes()) {
        return;
    }
    bench.execute(for_publication("ALTER PUBLICATION % SET (publish = 'delete')"));
    bench.execute(insert_event(2));
    expect_halt("does not publish inserts any more", "SET (publish = 'insert');");
    expect_way_out("ALTER PUBLICATION % SET (publish = 'insert')");
}

TEST_P(Facts, RowFilterHalts) {
    start_with_table();
    const bool has_filters =
        std::stoi(bench.session().value_of("SHOW server_version_num")) >= 150000;
    if (!publishes() || !has_filters) {
        return;
    }
    bench.execute(
        for_publication("ALTER PUBLICATION % SET TABLE walrelay.control, outbox_events "
                        "WHERE (version < 2)"));
    bench.execute(insert_event(2));
    expect_halt("has a row filter for table public.outbox_events", "DROP TABLE");
    const auto checked = bench.command({"check"});
    EXPECT_THAT(checked.output, HasSubstr("row filter"));
    expect_way_out(
        "BEGIN; ALTER PUBLICATION % DROP TABLE outbox_events; ALTER PUBLICATION % ADD "
        "TABLE outbox_events; COMMIT");
}

/// Older servers end the stream, PostgreSQL 18 only warns.
TEST_P(Facts, PublicationThatIsDroppedForAWhileLosesNoRow) {
    start_with_table();
    if (!publishes()) {
        return;
    }
    bench.execute(for_publication("DROP PUBLICATION %"));
    bench.execute(insert_events(2, 4));
    bench.execute(
        for_publication("CREATE PUBLICATION % FOR TABLE outbox_events, walrelay.control "
                        "WITH (publish_via_partition_root = true)"));
    ASSERT_EQ(bench.relay().process().wait_exit(patience), 3) << log();
    EXPECT_THAT(log(), HasSubstr(bench.name()));
    EXPECT_THAT(log(), HasSubstr("walrelay init --switch-plugin"));
    bench.set_plugin("wal2json");
    const auto switched = bench.command({"init", "--switch-plugin"});
    EXPECT_EQ(switched.exit_code, 0) << switched.errors;
    EXPECT_EQ(bench.command({"resume"}).exit_code, 0);
    bench.start();
    EXPECT_TRUE(bench.wait_for_messages(4)) << log();
    bench.stop();
    EXPECT_TRUE(exactly_once_in_order(event_ids(1, 4), bench.events()));
}

TEST_P(Facts, DomainThatIsMadeLaterStandsForItsType) {
    start_with_table();
    bench.execute(
        "CREATE DOMAIN document AS jsonb; ALTER TABLE outbox_events ALTER event_data TYPE "
        "document; " +
        insert_event(2));
    ASSERT_TRUE(bench.wait_for_messages(2)) << log();
    const auto stored = bench.messages();
    EXPECT_THAT(stored.back().body, HasSubstr(R"("event_data":{")"));
}

TEST_P(Facts, RowOfATypeThatIsGoneIsADeadLetter) {
    bench.create_table();
    bench.start();
    bench.execute(insert_event(1));
    ASSERT_TRUE(bench.wait_for_messages(1));
    bench.stop();
    bench.execute(
        "CREATE DOMAIN document AS jsonb; ALTER TABLE outbox_events ALTER event_data TYPE "
        "document; " +
        insert_event(2));
    bench.execute("ALTER TABLE outbox_events ALTER event_data TYPE jsonb; DROP DOMAIN document; " +
                  insert_event(3));
    bench.start();
    ASSERT_TRUE(bench.wait_for_messages(2)) << log();
    ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end())) << log();
    EXPECT_THAT(bench.session().value_of("SELECT message_id || reason FROM walrelay.dead_letter"),
                HasSubstr("that is gone"));
    EXPECT_THAT(log(), HasSubstr("event_data"));
    EXPECT_EQ(bench.events().back().id, event_id(3));
}

TEST_P(Facts, TypeThatIsNoDomainIsLearnedOnce) {
    start_with_table();
    bench.execute(
        "CREATE TYPE mood AS ENUM ('good'); ALTER TABLE outbox_events ADD feeling mood; " +
        insert_event(2));
    ASSERT_TRUE(bench.wait_for_messages(2)) << log();
    bench.execute(insert_event(3));
    bench.expect_relayed(event_ids(1, 3));
}

constexpr const char* small_ids =
    "CREATE TABLE outbox_events (id integer PRIMARY KEY, aggregate_type text, aggregate_id text, "
    "event_type text, event_data jsonb, status text NOT NULL DEFAULT 'new');";

std::string insert_id(const std::string& id) {
    return "INSERT INTO outbox_events (id, aggregate_type, aggregate_id, event_type, event_data) "
           "VALUES (" +
           id + ", 'order', 'a', 'placed', '{}')";
}

class IdTypes : public Facts {
protected:
    void start_with(const std::string& settings) {
        bench.execute(small_ids);
        bench.set_outbox(
            "[[outbox]]\ntable = 'public.outbox_events'\nsubject = "
            "'%.{aggregate_type}.{event_type}'\n" +
            settings);
        bench.start();
        bench.execute(insert_id("7"));
        ASSERT_TRUE(bench.wait_for_messages(1));
    }
    [[nodiscard]] bool becomes(const std::string& query, const std::string& wanted) {
        return eventually(patience, [&] { return bench.session().value_of(query) == wanted; });
    }
};

TEST_P(IdTypes, RowsAreWrittenBackAfterEachChangeOfTheType) {
    start_with("on_published = \"status = 'published'\"");
    ASSERT_TRUE(becomes("SELECT status FROM outbox_events WHERE id = 7", "published"));
    bench.execute("ALTER TABLE outbox_events ALTER id TYPE bigint");
    bench.execute(insert_id("3000000000"));
    EXPECT_TRUE(becomes("SELECT status FROM outbox_events WHERE id = 3000000000", "published"))
        << log();
    bench.execute("ALTER TABLE outbox_events ALTER id TYPE text");
    bench.execute(insert_id("'seven'"));
    EXPECT_TRUE(becomes("SELECT status FROM outbox_events WHERE id = 'seven'", "published"))
        << log();
    bench.execute(
        "DELETE FROM outbox_events WHERE id = 'seven'; ALTER TABLE outbox_events ALTER id "
        "TYPE bigint USING id::bigint");
    bench.execute(insert_id("4000000000"));
    EXPECT_TRUE(becomes("SELECT status FROM outbox_events WHERE id = 4000000000", "published"))
        << log();
    bench.stop();
}

TEST_P(IdTypes, RowsAreDeletedAtOnceAfterAChangeOfTheType) {
    start_with("delete_after = '0s'");
    ASSERT_TRUE(becomes("SELECT count(*) FROM outbox_events", "0"));
    bench.execute("ALTER TABLE outbox_events ALTER id TYPE bigint");
    bench.execute(insert_id("3000000000"));
    EXPECT_TRUE(becomes("SELECT count(*) FROM outbox_events", "0")) << log();
    bench.stop();
}

TEST_P(IdTypes, RowsAreCleanedUpAfterAChangeOfTheType) {
    start_with("delete_after = '1s'");
    ASSERT_TRUE(becomes("SELECT count(*) FROM outbox_events", "0"));
    bench.execute("ALTER TABLE outbox_events ALTER id TYPE bigint");
    bench.execute(insert_id("3000000000"));
    EXPECT_TRUE(becomes("SELECT count(*) FROM outbox_events", "0")) << log();
    bench.stop();
}

TEST_P(IdTypes, DeadLettersAreMarkedAfterAChangeOfTheType) {
    start_with("on_dead_letter = \"status = 'dead'\"");
    const std::string unmappable =
        "INSERT INTO outbox_events (id, aggregate_type, aggregate_id, event_type, event_data) "
        "VALUES (%, '', 'a', 'placed', '{}')";
    const auto with_id = [&](const std::string& id) {
        auto sql = unmappable;
        return sql.replace(sql.find('%'), 1, id);
    };
    bench.execute(with_id("8"));
    ASSERT_TRUE(becomes("SELECT status FROM outbox_events WHERE id = 8", "dead")) << log();
    bench.execute("ALTER TABLE outbox_events ALTER id TYPE bigint");
    bench.execute(with_id("3000000000"));
    EXPECT_TRUE(becomes("SELECT status FROM outbox_events WHERE id = 3000000000", "dead")) << log();
    bench.stop();
}

TEST_P(IdTypes, RowsArePublishedAgainAfterAChangeOfTheType) {
    bench.execute(small_ids);
    bench.execute("ALTER TABLE outbox_events ALTER event_data SET STORAGE EXTERNAL");
    bench.set_outbox(
        "[[outbox]]\ntable = 'public.outbox_events'\nsubject = "
        "'%.{aggregate_type}.{event_type}'\nrepublish = { column = 'status', value = "
        "'again' }\n");
    bench.start();
    const auto insert_large = [&](const std::string& id) {
        bench.execute(
            "INSERT INTO outbox_events (id, aggregate_type, aggregate_id, event_type, "
            "event_data) VALUES (" +
            id + ", 'order', 'a', 'placed', to_jsonb(repeat('x', 20000)))");
        bench.execute("UPDATE outbox_events SET status = 'again' WHERE id = " + id);
    };
    insert_large("7");
    ASSERT_TRUE(bench.wait_for_messages(2)) << log();
    bench.execute("ALTER TABLE outbox_events ALTER id TYPE bigint");
    insert_large("3000000000");
    EXPECT_TRUE(bench.wait_for_messages(4)) << log();
    bench.stop();
}

INSTANTIATE_TEST_SUITE_P(, Facts, both_plugins(), plugin_name);
INSTANTIATE_TEST_SUITE_P(, IdTypes, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
