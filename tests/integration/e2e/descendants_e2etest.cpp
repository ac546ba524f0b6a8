// Tables that hang on an outbox table: partitions between which walrelay's own write-backs move the
// rows, and tables that inherit.
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"

#include <algorithm>

namespace walrelay::test {
namespace {

constexpr const char* by_status = R"(
CREATE TABLE outbox_events (
    id uuid NOT NULL, aggregate_id varchar(255) NOT NULL, aggregate_type varchar(255) NOT NULL,
    event_type varchar(255) NOT NULL, event_data jsonb NOT NULL, metadata jsonb,
    status varchar(50) NOT NULL, version bigint NOT NULL, created_at timestamptz NOT NULL,
    PRIMARY KEY (id, status)
) PARTITION BY LIST (status);
CREATE TABLE waiting PARTITION OF outbox_events FOR VALUES IN ('pending');
CREATE TABLE finished PARTITION OF outbox_events DEFAULT;
)";

constexpr const char* with_statuses = R"toml(
[[outbox]]
table = 'public.outbox_events'
subject = '%.{aggregate_type}.{event_type}'
on_published = "status = 'published'"
on_dead_letter = "status = 'dead_letter'"
)toml";

class Descendants : public e2e_test {
protected:
    [[nodiscard]] bool becomes(const std::string& where, const std::string& wanted) {
        return eventually(patience, [&] {
            return bench.session().value_of("SELECT count(*) FROM outbox_events WHERE " + where) ==
                   wanted;
        });
    }
};

TEST_P(Descendants, WriteBackThatMovesTheRowIsNotPublishedAgain) {
    bench.execute(by_status);
    bench.set_outbox(with_statuses);
    bench.start();
    bench.execute(insert_events(1, 100));
    ASSERT_TRUE(becomes("tableoid = 'finished'::regclass", "100"));
    // Read after all that the write-backs wrote.
    bench.execute(insert_events(101, 101));
    bench.expect_relayed(event_ids(1, 101));
}

/// In the transaction of the write-back, which moves rows only of its own.
TEST_P(Descendants, WhatATriggerWritesWhileARowIsMovedIsPublished) {
    bench.execute(by_status);
    bench.execute(
        "CREATE FUNCTION follow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.version < "
        "100 THEN INSERT INTO outbox_events SELECT (e).* FROM (SELECT jsonb_populate_record(NEW, "
        "jsonb_build_object('id', '00000000-0000-4000-8000-' || lpad((NEW.version + "
        "100)::text, 12, '0'), 'version', NEW.version + 100, 'status', 'pending')) AS e) AS x; END "
        "IF; RETURN NULL; END $$; CREATE TRIGGER follow AFTER INSERT ON finished FOR EACH ROW "
        "EXECUTE FUNCTION follow()");
    bench.set_outbox(with_statuses);
    bench.start();
    bench.execute(insert_events(1, 5));
    ASSERT_TRUE(becomes("tableoid = 'finished'::regclass", "10")) << bench.relay().log();
    bench.stop();
    EXPECT_EQ(bench.messages().size(), 10U);
    const auto verified = bench.command({"verify"});
    EXPECT_EQ(verified.exit_code, 0) << verified.output;
}

TEST_P(Descendants, DeadLetterThatMovesTheRowIsNotPublishedAgain) {
    bench.execute(by_status);
    bench.set_outbox(with_statuses);
    bench.start();
    bench.execute(
        "INSERT INTO outbox_events (id, aggregate_type, aggregate_id, event_type, event_data, "
        "status, version, created_at) VALUES ('00000000-0000-0000-0000-00000000dead', '', 'a', "
        "'e', '{}', 'pending', 0, now())");
    ASSERT_TRUE(becomes("status = 'dead_letter'", "1"));
    bench.execute(insert_events(1, 10));
    ASSERT_TRUE(becomes("status = 'published'", "10"));
    ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    EXPECT_EQ(bench.session().value_of("SELECT count(*) FROM walrelay.dead_letter"), "1");
    bench.stop();
    EXPECT_TRUE(exactly_once_in_order(event_ids(1, 10), bench.events()));
}

TEST_P(Descendants, CheckWarnsOfRowsThatOthersCanMove) {
    bench.execute(by_status);
    bench.set_outbox(with_statuses);
    const auto check = bench.command({"check"}).output;
    EXPECT_NE(check.find("partitioned by status, which outbox.on_published names"),
              std::string::npos)
        << check;
}

TEST_P(Descendants, ATableThatInheritsIsAnOutboxOfItsOwnOrRefused) {
    bench.create_table();
    bench.execute("CREATE TABLE archive_events () INHERITS (outbox_events)");
    for (const std::string command : {"check", "init", "run"}) {
        const auto refused = bench.command({command});
        EXPECT_EQ(refused.exit_code, command == "check" ? 1 : 3);
        const auto said = refused.output + refused.errors;
        EXPECT_NE(said.find("rows of public.archive_events, which inherits from table "
                            "public.outbox_events, would not be relayed"),
                  std::string::npos)
            << said;
    }
    bench.set_outbox(R"toml(
[[outbox]]
table = 'public.outbox_events'
subject = '%.{aggregate_type}.{event_type}'
[[outbox]]
table = 'public.archive_events'
subject = '%.{aggregate_type}.{event_type}'
)toml");
    bench.start();
    bench.execute(insert_events(1, 5));
    bench.execute(insert_events(6, 10, "order-1", "archive_events"));
    bench.expect_relayed(event_ids(1, 10));
}

/// A parent with a child, both outboxes, whose messages tell which of them had the row.
class ParentAndChild : public e2e_test {
protected:
    void SetUp() override {
        bench.create_table();
        bench.execute("CREATE TABLE archive_events () INHERITS (outbox_events)");
        configure("");
    }
    /// `of_the_parent` are more keys for that one alone.
    void configure(const std::string& of_the_parent) {
        bench.set_outbox(
            "[[outbox]]\ntable = 'outbox_events'\nsubject = '%.parent'\n"
            "message_id = 'parent-{id}'\n" +
            of_the_parent +
            "\n[[outbox]]\ntable = 'archive_events'\nsubject = '%.child'\n"
            "message_id = 'child-{id}'\n");
    }
    void insert(std::uint64_t first, std::uint64_t last, const std::string& table) const {
        bench.execute(insert_events(first, last, "order-1", table));
    }
    /// One row of the same id in each, that of the child first: it is there when the parent's is
    /// written back.
    void relay_a_row_of_each() {
        bench.start();
        insert(7, 7, "archive_events");
        insert(7, 7, "outbox_events");
        ASSERT_TRUE(bench.wait_for_messages(2)) << bench.relay().log();
    }
    [[nodiscard]] std::string count(const std::string& rows) const {
        return bench.session().value_of("SELECT count(*) FROM ONLY " + rows);
    }
    [[nodiscard]] bool becomes(const std::string& rows, const std::string& wanted) const {
        return eventually(patience, [&] { return count(rows) == wanted; });
    }
    [[nodiscard]] std::vector<std::string> message_ids() {
        std::vector<std::string> ids;
        for (const auto& message : bench.messages()) {
            ids.push_back(message.header("Nats-Msg-Id"));
        }
        std::ranges::sort(ids);
        return ids;
    }
    void expect_verified() {
        const auto verified = bench.command({"verify"});
        EXPECT_EQ(verified.exit_code, 0) << verified.output;
    }
};

TEST_P(ParentAndChild, EachRowIsPublishedAndHealedAsOneOfItsOwnTable) {
    insert(1, 1, "outbox_events");
    insert(2, 2, "archive_events");
    bench.set_postgres("snapshot = 'all'");
    bench.set_delivery("on_slot_loss = 'heal'");
    bench.start();
    insert(3, 3, "outbox_events");
    insert(4, 4, "archive_events");
    ASSERT_TRUE(bench.wait_for_messages(4)) << bench.relay().log();
    ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    expect_verified();
    bench.stop();
    insert(5, 5, "outbox_events");
    insert(6, 6, "archive_events");
    bench.execute("SELECT pg_drop_replication_slot(" + as_literal(bench.name()) + ")");
    bench.start();
    expect_verified();
    bench.stop();
    const std::vector<std::string> each_once{"child-" + event_id(2),  "child-" + event_id(4),
                                             "child-" + event_id(6),  "parent-" + event_id(1),
                                             "parent-" + event_id(3), "parent-" + event_id(5)};
    EXPECT_EQ(message_ids(), each_once);
}

TEST_P(ParentAndChild, AStatusOfTheParentIsNotTheChilds) {
    configure("on_published = \"status = 'published'\"\n");
    relay_a_row_of_each();
    ASSERT_TRUE(becomes("outbox_events WHERE status = 'published'", "1"));
    EXPECT_EQ(count("archive_events WHERE status = 'pending'"), "1");
}

TEST_P(ParentAndChild, ADeletionAtOnceLeavesTheChildsRow) {
    configure("delete_after = '0s'\n");
    relay_a_row_of_each();
    ASSERT_TRUE(becomes("outbox_events", "0"));
    EXPECT_EQ(count("archive_events"), "1");
}

TEST_P(ParentAndChild, ALaterDeletionLeavesTheChildsRow) {
    configure("delete_after = '1s'\n");
    relay_a_row_of_each();
    ASSERT_TRUE(becomes("outbox_events", "0")) << bench.relay().log();
    EXPECT_EQ(count("archive_events"), "1");
}

TEST_P(ParentAndChild, AReplayOfTheParentPublishesNoRowOfTheChild) {
    relay_a_row_of_each();
    insert(8, 8, "archive_events");
    ASSERT_TRUE(bench.wait_for_messages(3)) << bench.relay().log();
    const auto asked =
        bench.command({"replay", "--table", "outbox_events", "--rows", "true", "--execute"});
    ASSERT_EQ(asked.exit_code, 0) << asked.output << asked.errors;
    ASSERT_TRUE(bench.wait_for_messages(4)) << bench.relay().log();
    ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    EXPECT_EQ(bench.messages().size(), 4U);
}

INSTANTIATE_TEST_SUITE_P(, ParentAndChild, both_plugins(), plugin_name);
INSTANTIATE_TEST_SUITE_P(, Descendants, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
