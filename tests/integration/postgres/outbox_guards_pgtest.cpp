#include "postgres/catalog/outbox_guards.hpp"

#include "postgres_fixture.hpp"

#include <gmock/gmock.h>

#include <stdexcept>

namespace walrelay::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Roles belong to the server, and other tests make theirs.
class OutboxGuards : public postgres_fixture {
protected:
    OutboxGuards() {
        relay_ = "relay_" + database_;
        app_ = "app_" + database_;
        writer_->execute("CREATE ROLE " + relay_ + " LOGIN; CREATE ROLE " + app_ + " LOGIN;" +
                         "GRANT ALL ON events TO " + relay_);
    }

    postgres_facts facts(postgres::connection* writer = nullptr) {
        auto wanted = options(postgres::connection_kind::sql);
        wanted.conninfo += " user=" + relay_;
        auto sql = run(postgres::connection::open(context_.get_executor(), wanted));
        postgres_facts all;
        all.tables.resize(2);
        all.tables[0].table = {"public", "missing"};
        all.tables[1].table = {"public", "events"};
        const auto done = run(postgres::inspect_guards(*sql, writer, all));
        EXPECT_TRUE(done.has_value()) << to_string(done.error());
        EXPECT_THAT(all.tables[0].hidden_from, IsEmpty());
        return all;
    }
    std::vector<std::string> hidden_from() { return facts().tables[1].hidden_from; }

    void policy(const std::string& name, const std::string& rest) {
        writer_->execute("CREATE POLICY " + name + " ON events " + rest);
    }

    std::string relay_;
    std::string app_;
};

TEST_F(OutboxGuards, TellsFromWhichCommandsRowSecurityCanHideRows) {
    EXPECT_THAT(hidden_from(), IsEmpty());
    writer_->execute("ALTER TABLE events ENABLE ROW LEVEL SECURITY");
    EXPECT_THAT(hidden_from(), ElementsAre("SELECT", "UPDATE", "DELETE"));
    policy("tenant", "USING (id > 5)");
    EXPECT_THAT(hidden_from(), ElementsAre("SELECT", "UPDATE", "DELETE"));
    policy("of_app", "TO " + app_ + " USING (true)");
    EXPECT_THAT(hidden_from(), ElementsAre("SELECT", "UPDATE", "DELETE")) << "another role's";
    policy("reads", "FOR SELECT TO " + relay_ + " USING (true)");
    EXPECT_THAT(hidden_from(), ElementsAre("UPDATE", "DELETE"));
    policy("all_rows", "TO " + relay_ + " USING (true)");
    EXPECT_THAT(hidden_from(), IsEmpty());
    policy("never_old", "AS RESTRICTIVE FOR UPDATE USING (id > 5)");
    EXPECT_THAT(hidden_from(), ElementsAre("UPDATE"));
    writer_->execute("ALTER POLICY never_old ON events TO " + app_);
    EXPECT_THAT(hidden_from(), IsEmpty());
}

TEST_F(OutboxGuards, SeesNoneWhereTheRolePassesRowSecurityBy) {
    writer_->execute("ALTER TABLE events ENABLE ROW LEVEL SECURITY; ALTER ROLE " + relay_ +
                     " BYPASSRLS");
    EXPECT_THAT(hidden_from(), IsEmpty());
}

TEST_F(OutboxGuards, NamesWhoMayAttachTriggers) {
    EXPECT_THAT(facts().tables[1].trigger_makers, IsEmpty());
    writer_->execute("GRANT TRIGGER ON events TO " + app_ + ", PUBLIC");
    EXPECT_THAT(facts().tables[1].trigger_makers, testing::UnorderedElementsAre("PUBLIC", app_));
    writer_->execute("REVOKE TRIGGER ON events FROM PUBLIC; ALTER ROLE " + app_ + " SUPERUSER");
    EXPECT_THAT(facts().tables[1].trigger_makers, IsEmpty());
}

TEST_F(OutboxGuards, NamesTriggersThatRunFunctionsOfOthers) {
    writer_->execute(
        "CREATE FUNCTION audit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;"
        "CREATE TRIGGER audit AFTER UPDATE ON events EXECUTE FUNCTION audit()");
    EXPECT_THAT(facts().tables[1].foreign_triggers, IsEmpty());
    writer_->execute("GRANT CREATE ON SCHEMA public TO " + app_ +
                     "; ALTER FUNCTION audit() OWNER TO " + app_);
    EXPECT_THAT(facts().tables[1].foreign_triggers, ElementsAre("audit"));
    writer_->execute("ALTER TABLE events DISABLE TRIGGER audit");
    EXPECT_THAT(facts().tables[1].foreign_triggers, IsEmpty());
}

/// Code that a role which is not trusted can change, wherever it runs.
class CodeOfOthers : public OutboxGuards {
protected:
    CodeOfOthers() {
        writer_->execute(
            "CREATE SCHEMA theirs AUTHORIZATION " + app_ +
            "; GRANT USAGE ON SCHEMA theirs TO PUBLIC;"
            "CREATE FUNCTION theirs.judge(bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS "
            "'BEGIN RETURN $1; END'; CREATE FUNCTION judge(bigint) RETURNS bigint LANGUAGE sql "
            "IMMUTABLE AS 'SELECT $1'");
        EXPECT_THAT(code(), IsEmpty());
    }
    /// With the function first as the trusted owner's, then as the other role's.
    void expect_only_theirs(const std::string& sql, const std::string& named) {
        writer_->execute(sql);
        EXPECT_THAT(code(), IsEmpty()) << sql;
        writer_->execute("ALTER FUNCTION theirs.judge OWNER TO " + app_);
        EXPECT_THAT(code(), ElementsAre(named)) << sql;
    }
    std::vector<std::string> code() { return facts().tables[1].foreign_code; }
    std::vector<std::string> reading() { return facts().tables[1].foreign_reading; }
};

/// A function of others leaves its trace where a plan is made.
TEST_F(CodeOfOthers, RunsWhereRowsAreReadIfThePlannerEvaluatesIt) {
    writer_->execute(
        "CREATE FUNCTION theirs.loud(bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN "
        "RAISE EXCEPTION 'ran as %', current_user; END $$; ALTER FUNCTION theirs.judge OWNER TO " +
        app_);
    const auto planned = [&] {
        try {
            // A session keeps what it has planned once.
            server().session(database_).execute("EXPLAIN SELECT * FROM events");
        } catch (const std::runtime_error& failure) {
            return std::string(failure.what()).find("ran as") != std::string::npos;
        }
        return false;
    };
    for (const std::string expression : {"judge(7)", "judge(id)", "judge(id + 7)"}) {
        SCOPED_TRACE(expression);
        writer_->execute("CREATE INDEX by_judge ON events ((id + theirs." + expression + "))");
        // Named where it runs; what cannot be told from that by its first argument is, too.
        EXPECT_THAT(reading(), ElementsAre("index public.by_judge (function theirs.judge(bigint))"))
            << "an SQL function";
        writer_->execute(
            "CREATE OR REPLACE FUNCTION theirs.judge(bigint) RETURNS bigint LANGUAGE plpgsql "
            "IMMUTABLE AS $$ BEGIN RETURN theirs.loud($1); END $$");
        EXPECT_EQ(planned(), expression == "judge(7)");
        // What cannot be told from that by its first argument is named, too.
        EXPECT_THAT(expression == "judge(id)" ? code() : reading(),
                    ElementsAre("index public.by_judge (function theirs.judge(bigint))"));
        writer_->execute(
            "CREATE OR REPLACE FUNCTION theirs.judge(bigint) RETURNS bigint LANGUAGE sql IMMUTABLE "
            "AS 'SELECT $1 + theirs.loud(1)'");
        EXPECT_TRUE(planned()) << "the planner puts its body in its place";
        writer_->execute(
            "DROP INDEX by_judge; CREATE OR REPLACE FUNCTION theirs.judge(bigint) RETURNS bigint "
            "LANGUAGE sql IMMUTABLE AS 'SELECT $1'");
    }
}

TEST_F(CodeOfOthers, IsNamedInAPartitionKeyAndInStatistics) {
    writer_->execute(
        "DROP TABLE events; CREATE TABLE events (id bigint) PARTITION BY RANGE "
        "((theirs.judge(id)));");
    EXPECT_THAT(code(), IsEmpty());
    writer_->execute("ALTER FUNCTION theirs.judge OWNER TO " + app_);
    EXPECT_THAT(code(),
                ElementsAre("partition key of public.events (function theirs.judge(bigint))"));
    if (writer_->value_of("SELECT current_setting('server_version_num')::int >= 140000") != "t") {
        return;
    }
    writer_->execute(
        "DROP TABLE events; CREATE TABLE events (id bigint); CREATE STATISTICS judged ON "
        "(theirs.judge(id)) FROM events");
    EXPECT_THAT(code(), ElementsAre("statistics judged (function theirs.judge(bigint))"));
}

TEST_F(CodeOfOthers, IsACastThatTheOwnerOfATypeCanMake) {
    writer_->execute(
        "CREATE TYPE theirs.kind AS ENUM ('a'); ALTER TABLE events ADD COLUMN kind "
        "theirs.kind");
    EXPECT_THAT(code(), IsEmpty());
    writer_->execute("ALTER TYPE theirs.kind OWNER TO " + app_);
    EXPECT_THAT(code(), testing::Contains("type theirs.kind (of role " + app_ + ")"));
}

TEST_F(CodeOfOthers, IsNamedInTheDomainOfARange) {
    expect_only_theirs(
        "CREATE DOMAIN judged AS bigint CONSTRAINT judged CHECK (theirs.judge(VALUE) > 0); CREATE "
        "TYPE span AS RANGE (subtype = judged); ALTER TABLE events ADD COLUMN span span",
        "constraint judged of domain public.judged (function theirs.judge(bigint))");
}

TEST_F(CodeOfOthers, IsADefaultOfAColumn) {
    writer_->execute("ALTER TABLE events ADD COLUMN judged bigint DEFAULT theirs.judge(1)");
    EXPECT_THAT(facts().tables[1].foreign_defaults, IsEmpty());
    writer_->execute("ALTER FUNCTION theirs.judge OWNER TO " + app_);
    EXPECT_THAT(facts().tables[1].foreign_defaults,
                ElementsAre("default of column judged (function theirs.judge(bigint))"));
    EXPECT_THAT(code(), IsEmpty());
}

/// The role of postgres.writer.
class WriterPowers : public OutboxGuards {
protected:
    WriterPowers() {
        writer_->execute(
            "CREATE SCHEMA walrelay; CREATE TABLE walrelay.dead_letter (position text, reason "
            "text); CREATE TABLE walrelay.control (kind text); CREATE TABLE walrelay.control_key "
            "(secret text); CREATE TABLE walrelay.witness (slot text); GRANT USAGE ON SCHEMA "
            "walrelay TO " +
            app_ + "; GRANT SELECT ON walrelay.dead_letter TO " + app_);
    }
    writer_facts writer() {
        auto wanted = options(postgres::connection_kind::sql);
        wanted.over = "user=" + app_;
        auto sql = run(postgres::connection::open(context_.get_executor(), wanted));
        return *facts(&*sql).writer;
    }
    std::vector<std::string> powers() { return writer().powers; }
};

TEST_F(WriterPowers, AreNoneOfARoleThatWritesBack) {
    EXPECT_EQ(writer().role, app_);
    EXPECT_THAT(powers(), IsEmpty());
    EXPECT_TRUE(writer().knows_letters);
    EXPECT_FALSE(writer().marks);
    writer_->execute("REVOKE SELECT ON walrelay.dead_letter FROM " + app_);
    EXPECT_FALSE(writer().knows_letters);
}

TEST_F(WriterPowers, AreWhatLetsItActAsTheRelay) {
    const auto is_named = [&](const std::string& given, const std::string& taken,
                              const std::string& named) {
        writer_->execute(given);
        EXPECT_THAT(powers(), ElementsAre(named)) << given;
        writer_->execute(taken);
        EXPECT_THAT(powers(), IsEmpty()) << taken;
    };
    const auto role = "ALTER ROLE " + app_;
    is_named(role + " SUPERUSER", role + " NOSUPERUSER", "is a superuser");
    is_named(role + " REPLICATION", role + " NOREPLICATION", "has REPLICATION");
    is_named(role + " CREATEROLE", role + " NOCREATEROLE", "has CREATEROLE");
    is_named("GRANT " + relay_ + " TO " + app_, "REVOKE " + relay_ + " FROM " + app_,
             "may act as role " + relay_);
    const auto right = [&](const std::string& what) {
        is_named("GRANT " + what + " TO " + app_, "REVOKE " + what + " FROM " + app_,
                 "may " + what.substr(0, what.find(' ')) + what.substr(what.rfind(' ')));
    };
    right("SELECT ON walrelay.control_key");
    right("UPDATE ON walrelay.witness");
    right("INSERT ON walrelay.dead_letter");
    right("REFERENCES ON walrelay.control");
    right("TRIGGER ON walrelay.control");
    is_named("GRANT UPDATE (reason) ON walrelay.dead_letter TO " + app_,
             "REVOKE UPDATE (reason) ON walrelay.dead_letter FROM " + app_,
             "may UPDATE walrelay.dead_letter");
    const auto group = "group_" + database_;
    writer_->execute("CREATE ROLE " + group + " REPLICATION; GRANT INSERT ON walrelay.witness TO " +
                     group + "; GRANT " + group + " TO " + app_ + "; ALTER ROLE " + app_ +
                     " NOINHERIT");
    EXPECT_THAT(powers(), ElementsAre("has REPLICATION", "may INSERT walrelay.witness"))
        << "SET ROLE";
    writer_->execute("ALTER TABLE events OWNER TO " + app_ + "; REVOKE " + group + " FROM " + app_);
    EXPECT_THAT(powers(), ElementsAre("is the owner of the database or of an outbox"));
}

TEST_F(WriterPowers, AreAllOfTheRelaysOwnRole) {
    auto wanted = options(postgres::connection_kind::sql);
    wanted.over = "user=" + relay_;
    auto sql = run(postgres::connection::open(context_.get_executor(), wanted));
    EXPECT_THAT(facts(&*sql).writer->powers, ElementsAre("is the relay's own role"));
}

/// What is hidden from it is another matter than what is hidden from the relay.
TEST_F(WriterPowers, RowSecurityIsThatOfTheRoleThatWrites) {
    writer_->execute("ALTER TABLE events ENABLE ROW LEVEL SECURITY; GRANT ALL ON events TO " +
                     app_);
    policy("relay_reads", "TO " + relay_ + " USING (true)");
    auto wanted = options(postgres::connection_kind::sql);
    wanted.over = "user=" + app_;
    auto sql = run(postgres::connection::open(context_.get_executor(), wanted));
    const auto seen = facts(&*sql).tables[1];
    EXPECT_THAT(seen.hidden_from, IsEmpty());
    EXPECT_THAT(seen.hidden_from_writer, ElementsAre("SELECT", "UPDATE", "DELETE"));
}

TEST_F(CodeOfOthers, IsNamedInAConstraint) {
    expect_only_theirs(
        "ALTER TABLE events ADD CONSTRAINT judged CHECK (theirs.judge(id) = public.judge(id))",
        "constraint judged (function theirs.judge(bigint))");
}

TEST_F(CodeOfOthers, IsNamedInADomainWithinADomain) {
    expect_only_theirs(
        "CREATE DOMAIN inside AS int CONSTRAINT judged CHECK (theirs.judge(VALUE) > 0); CREATE "
        "DOMAIN outside AS inside; ALTER TABLE events ADD COLUMN more outside",
        "constraint judged of domain public.inside (function theirs.judge(bigint))");
}

TEST_F(CodeOfOthers, IsNamedInAnIndex) {
    expect_only_theirs("CREATE INDEX by_judge ON events (theirs.judge(id))",
                       "index public.by_judge (function theirs.judge(bigint))");
}

TEST_F(CodeOfOthers, IsNamedInAGeneratedColumn) {
    expect_only_theirs(
        "ALTER TABLE events ADD COLUMN judged bigint GENERATED ALWAYS AS (theirs.judge(id)) STORED",
        "generated column judged (function theirs.judge(bigint))");
}

TEST_F(CodeOfOthers, IsNamedInARule) {
    expect_only_theirs(
        "CREATE TABLE log (at int); CREATE RULE note AS ON UPDATE TO events DO ALSO INSERT INTO "
        "log "
        "VALUES (theirs.judge(1))",
        "rule note (function theirs.judge(bigint))");
}

TEST_F(CodeOfOthers, IsNamedInThePolicyOfATable) {
    writer_->execute(
        "CREATE POLICY tenant ON events USING (theirs.judge(id) > 0); ALTER FUNCTION theirs.judge "
        "OWNER TO " +
        app_);
    EXPECT_THAT(reading(), IsEmpty()) << "none applies";
    writer_->execute("ALTER TABLE events ENABLE ROW LEVEL SECURITY");
    EXPECT_THAT(reading(), ElementsAre("policy tenant (function theirs.judge(bigint))"));
    EXPECT_THAT(code(), IsEmpty());
}

TEST_F(CodeOfOthers, IsNamedInTheConditionOfATrigger) {
    expect_only_theirs(
        "CREATE FUNCTION ours() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$;"
        "CREATE TRIGGER ours BEFORE UPDATE ON events FOR EACH ROW WHEN (theirs.judge(NEW.id) > 0) "
        "EXECUTE FUNCTION ours()",
        "condition of trigger ours (function theirs.judge(bigint))");
}

TEST_F(CodeOfOthers, IsNamedBehindAnOperator) {
    expect_only_theirs(
        "CREATE FUNCTION theirs.more(bigint, bigint) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS "
        "'BEGIN RETURN $1 > $2; END'; CREATE OPERATOR theirs.>>> (FUNCTION = theirs.more, LEFTARG "
        "= bigint, RIGHTARG = "
        "bigint);"
        "ALTER TABLE events ADD CONSTRAINT more CHECK (id OPERATOR(theirs.>>>) 0), ADD CONSTRAINT "
        "judged CHECK (theirs.judge(id) > 0)",
        "constraint judged (function theirs.judge(bigint))");
    writer_->execute("ALTER FUNCTION theirs.more OWNER TO " + app_);
    EXPECT_THAT(code(), testing::Contains("constraint more (function theirs.more(bigint,bigint))"));
}

TEST_F(CodeOfOthers, IsAnyOfATableThatFollowsByAForeignKey) {
    writer_->execute(
        "ALTER TABLE events ADD CONSTRAINT key UNIQUE (id); GRANT REFERENCES ON events "
        "TO " +
        app_ +
        "; CREATE TABLE theirs.follower (id int REFERENCES events (id)); ALTER "
        "TABLE theirs.follower OWNER TO " +
        app_);
    EXPECT_THAT(code(), IsEmpty()) << "it refuses, and changes nothing";
    writer_->execute(
        "ALTER TABLE theirs.follower DROP CONSTRAINT follower_id_fkey, ADD FOREIGN KEY "
        "(id) REFERENCES events (id) ON DELETE CASCADE");
    EXPECT_THAT(code(),
                ElementsAre("the foreign key of table theirs.follower (of role " + app_ + ")"));
}

TEST_F(CodeOfOthers, IsATriggerBehindTwoForeignKeys) {
    writer_->execute(
        "ALTER TABLE events ADD CONSTRAINT key UNIQUE (id);"
        "CREATE TABLE one (id int UNIQUE REFERENCES events (id) ON DELETE CASCADE);"
        "CREATE TABLE two (id int REFERENCES one (id) ON DELETE CASCADE);"
        "CREATE FUNCTION theirs.late() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; "
        "END $$; CREATE CONSTRAINT TRIGGER late AFTER DELETE ON two DEFERRABLE INITIALLY DEFERRED "
        "FOR EACH ROW EXECUTE FUNCTION theirs.late()");
    EXPECT_THAT(code(), IsEmpty());
    writer_->execute("ALTER FUNCTION theirs.late OWNER TO " + app_);
    EXPECT_THAT(code(), ElementsAre("trigger late of table public.two, by a foreign key (function "
                                    "theirs.late())"));
}

TEST_F(CodeOfOthers, IsAPartitionOfAnotherRole) {
    writer_->execute(
        "DROP TABLE events; CREATE TABLE events (id int) PARTITION BY RANGE (id);"
        "CREATE TABLE events_1 PARTITION OF events FOR VALUES FROM (1) TO (10);");
    EXPECT_THAT(code(), IsEmpty());
    writer_->execute("ALTER TABLE events_1 OWNER TO " + app_);
    EXPECT_THAT(code(), ElementsAre("partition public.events_1 (of role " + app_ + ")"));
}

TEST_F(OutboxGuards, TakesPartitionsForTheirTable) {
    writer_->execute(
        "DROP TABLE events; CREATE TABLE events (id int) PARTITION BY RANGE (id);"
        "CREATE TABLE events_1 PARTITION OF events FOR VALUES FROM (1) TO (10);"
        "GRANT TRIGGER ON events_1 TO " +
        app_);
    EXPECT_THAT(facts().tables[1].trigger_makers, ElementsAre(app_));
}

TEST_F(OutboxGuards, NamesWhoMayWriteLogicalMessages) {
    EXPECT_THAT(facts().message_writers, ElementsAre("PUBLIC"));
    // The catalog is this database's own.
    writer_->execute(
        "DO $$ DECLARE f regprocedure; BEGIN FOR f IN SELECT oid FROM pg_proc WHERE proname = "
        "'pg_logical_emit_message' LOOP EXECUTE 'REVOKE EXECUTE ON FUNCTION ' || f || ' FROM "
        "PUBLIC'; EXECUTE 'GRANT EXECUTE ON FUNCTION ' || f || ' TO " +
        app_ +
        "'; END LOOP; "
        "END $$");
    EXPECT_THAT(facts().message_writers, ElementsAre(app_));
}

}  // namespace
}  // namespace walrelay::test
