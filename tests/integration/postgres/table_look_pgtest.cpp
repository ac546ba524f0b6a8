#include "postgres/catalog/table_look.hpp"

#include "postgres/catalog/blockers.hpp"
#include "postgres_fixture.hpp"
#include "support/eventually.hpp"

#include <gmock/gmock.h>

#include <future>

namespace walrelay::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class TableLook : public postgres_fixture {
protected:
    TableLook() {
        writer_->execute(R"sql(
            CREATE SCHEMA "other ""one"""; CREATE SCHEMA jobs;
            CREATE TABLE parted (id bigint) PARTITION BY RANGE (id);
            CREATE TABLE middle PARTITION OF parted FOR VALUES FROM (1) TO (10)
                PARTITION BY RANGE (id);
            CREATE TABLE "other ""one"""."A leaf, of it" PARTITION OF middle
                FOR VALUES FROM (1) TO (5);
            CREATE TABLE plain (id bigint);
            CREATE TABLE child () INHERITS (plain);
            CREATE TABLE jobs.parted (id bigint);
        )sql");
    }

    table_sight look(const table_name& which) {
        auto sql = connect();
        const auto seen = run(postgres::look_at_table(sql, which, outboxes_));
        EXPECT_TRUE(seen.has_value()) << to_string(seen.error());
        return seen.value();
    }

    std::vector<table_name> outboxes_{{"public", "parted"}, {"public", "plain"}};
};

TEST_F(TableLook, KnowsThePartitionsAndChildrenOfOutboxesAtAnyDepth) {
    const auto leaf = look({"other \"one\"", "A leaf, of it"});
    EXPECT_TRUE(leaf.exists && leaf.descends_from_outbox && leaf.outboxes_exist);
    EXPECT_TRUE(look({"public", "child"}).descends_from_outbox);
}

TEST_F(TableLook, KnowsOthersAndWhatIsNotThere) {
    const auto other = look({"jobs", "parted"});
    EXPECT_TRUE(other.exists && !other.descends_from_outbox && other.outboxes_exist);
    const auto gone = look({"jobs", "gone"});
    EXPECT_TRUE(!gone.exists && !gone.descends_from_outbox && gone.outboxes_exist);
}

TEST_F(TableLook, TellsThatAnOutboxIsGone) {
    writer_->execute("ALTER TABLE plain RENAME TO plain_old");
    EXPECT_FALSE(look({"jobs", "gone"}).outboxes_exist);
}

TEST_F(TableLook, SaysWhoHoldsTheLockThatAProcessWaitsFor) {
    const auto holder = writer_->value_of("SELECT pg_backend_pid()");
    writer_->execute("SET application_name = 'the report'; BEGIN; LOCK TABLE plain");
    auto waiting = server().session(database_);
    waiting.execute("SET lock_timeout = '60s'");
    const auto process = waiting.value_of("SELECT pg_backend_pid()");
    auto waits = std::async(std::launch::async, [&] { waiting.execute("TABLE plain"); });
    auto sql = connect();
    std::string who;
    EXPECT_TRUE(eventually(std::chrono::seconds(30), [&] {
        who = run(postgres::describe_blockers(sql, std::stoi(process))).value();
        return who.starts_with("it waits for a lock");
    }));
    EXPECT_THAT(who,
                AllOf(HasSubstr("process " + holder + " of role"),
                      HasSubstr("(the report), idle in transaction"), Not(HasSubstr("LOCK TABLE")),
                      HasSubstr("pg_blocking_pids(" + process + ")")));
    writer_->execute("COMMIT");
    waits.get();
    EXPECT_THAT(run(postgres::describe_blockers(sql, std::stoi(process))).value(),
                HasSubstr("waits for no lock"));
}

}  // namespace
}  // namespace walrelay::test
