// What roles without rights can make walrelay do: nothing.
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"

namespace walrelay::test {
namespace {

class Strangers : public e2e_test {
protected:
    Strangers() : stranger_("stranger_" + bench.name()) {
        bench.execute("CREATE ROLE " + stranger_ + " LOGIN");
    }
    ~Strangers() override {
        auto session = bench.session();
        session.execute("DROP OWNED BY " + stranger_ + " CASCADE; DROP ROLE " + stranger_);
    }

    [[nodiscard]] const std::string& stranger() const { return stranger_; }
    /// As a role that may connect, and do no more than is granted here.
    void execute_as_stranger(const std::string& sql) {
        bench.execute("SET ROLE " + stranger_ + "; " + sql);
    }
    void emit(const std::string& prefix, const std::string& content) {
        execute_as_stranger("SELECT pg_logical_emit_message(true, " + as_literal(prefix) + ", " +
                            as_literal(content) + ")");
    }
    std::string refusal(const std::string& sql) {
        try {
            execute_as_stranger(sql);
        } catch (const std::runtime_error& failure) {
            return failure.what();
        }
        return "it is taken";
    }
    /// In public, where the stranger may create: whoever compares two varchars runs it.
    void make_hostile_operator() {
        bench.execute(
            "CREATE TABLE ran_as (role text); GRANT INSERT ON ran_as TO PUBLIC;"
            "GRANT CREATE ON SCHEMA public TO " +
            stranger());
        execute_as_stranger(
            "CREATE FUNCTION public.equal(varchar, varchar) RETURNS boolean LANGUAGE plpgsql AS "
            "$$ BEGIN INSERT INTO public.ran_as VALUES (current_user); RETURN $1::text = $2::text; "
            "END $$;"
            "CREATE OPERATOR public.= (FUNCTION = public.equal, LEFTARG = varchar, RIGHTARG = "
            "varchar)");
    }
    /// `walrelay run` ends by itself because an operator is needed; returns its log.
    std::string refused_start() {
        bench.launch();
        EXPECT_EQ(bench.relay().process().wait_exit(patience), 3);
        return bench.relay().log();
    }

private:
    std::string stranger_;
};

TEST_P(Strangers, LogicalMessagesAreNoRequests) {
    bench.create_table();
    bench.set_outbox(
        "[[outbox]]\ntable = 'outbox_events'\nsubject = '%.{aggregate_type}.{event_type}'\n"
        "on_published = \"status = 'published'\"");
    bench.start();
    bench.execute(insert_event(1));
    ASSERT_TRUE(bench.wait_for_messages(1));
    const std::string columns =
        R"("columns":[{"name":"id","type":2950,"value":"00000000-0000-0000-0000-000000000002"},)"
        R"({"name":"aggregate_type","type":25,"value":"user"},)"
        R"({"name":"event_type","type":25,"value":"promoted_to_admin"},)"
        R"({"name":"event_data","type":114,"value":"{\"admin\":true},\"forged\":1"}])";
    for (const std::string occasion :
         {"retry-1-1", R"(x\r\nNats-Rollup: all)", R"(x\r\nWalrelay-Position: 1.1.0.0.0)"}) {
        emit("walrelay.retry",
             R"({"table":{"schema":"public","name":"outbox_events"},"occasion":")" + occasion +
                 "\"," + columns + "}");
    }
    emit("walrelay.write_back", "");
    bench.execute(insert_event(2));
    ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    bench.expect_relayed(event_ids(1, 2));
    EXPECT_EQ(bench.relay().log().find("warning"), std::string::npos) << bench.relay().log();
}

TEST_P(Strangers, OnlyAGrantLetsARoleSpeakToTheRelay) {
    bench.create_table();
    bench.start();
    execute_as_stranger("SELECT 1");
    EXPECT_NE(refusal("INSERT INTO walrelay.control (kind) VALUES ('own')").find("permission"),
              std::string::npos);
    bench.execute("GRANT USAGE ON SCHEMA walrelay TO PUBLIC");
    EXPECT_NE(refusal("INSERT INTO walrelay.control (kind) VALUES ('own')").find("permission"),
              std::string::npos);
    bench.stop();
    bench.execute("GRANT INSERT ON walrelay.control TO PUBLIC");
    const auto log = refused_start();
    EXPECT_NE(log.find("REVOKE INSERT ON walrelay.control FROM PUBLIC;"), std::string::npos) << log;
}

TEST_P(Strangers, SchemaThatSomebodyElseMadeIsNotUsed) {
    bench.create_table();
    bench.execute("GRANT CREATE ON DATABASE " + bench.database() + " TO " + stranger());
    execute_as_stranger(
        "CREATE SCHEMA walrelay; CREATE TABLE walrelay.dead_letter (position text);"
        "CREATE FUNCTION walrelay.act() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'ran as %', current_user; END $$;"
        "CREATE TRIGGER act BEFORE INSERT ON walrelay.dead_letter "
        "FOR EACH ROW EXECUTE FUNCTION walrelay.act();"
        "GRANT ALL ON SCHEMA walrelay TO PUBLIC; GRANT ALL ON walrelay.dead_letter TO PUBLIC");
    const auto init = bench.command({"init"});
    EXPECT_EQ(init.exit_code, 3);
    EXPECT_NE(init.errors.find("the schema walrelay belongs to the role " + stranger()),
              std::string::npos)
        << init.errors;
    const auto check = bench.command({"check"});
    EXPECT_EQ(check.exit_code, 1);
    EXPECT_NE(check.output.find("the schema walrelay belongs to the role"), std::string::npos)
        << check.output;
    // It relays all the same, and touches nothing of it.
    bench.start();
    bench.execute(insert_event(1));
    ASSERT_TRUE(bench.wait_for_messages(1));
    ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    EXPECT_NE(bench.relay().log().find("ALTER SCHEMA walrelay RENAME TO walrelay_before"),
              std::string::npos)
        << bench.relay().log();
    bench.stop();
    bench.execute("ALTER SCHEMA walrelay RENAME TO walrelay_before");
    EXPECT_EQ(bench.command({"init"}).exit_code, 0);
    bench.start();
    bench.execute(insert_event(2));
    bench.expect_relayed(event_ids(1, 2));
}

TEST_P(Strangers, TriggerOnATableOfWalrelaysStopsIt) {
    bench.create_table();
    ASSERT_EQ(bench.command({"init"}).exit_code, 0);
    bench.execute("GRANT USAGE ON SCHEMA walrelay TO " + stranger() +
                  "; GRANT TRIGGER ON walrelay.dead_letter TO " + stranger() +
                  "; CREATE FUNCTION act() RETURNS trigger LANGUAGE plpgsql AS "
                  "$$ BEGIN RETURN NEW; END $$");
    execute_as_stranger(
        "CREATE TRIGGER \"Act\" BEFORE INSERT ON walrelay.dead_letter "
        "FOR EACH ROW EXECUTE FUNCTION act()");
    const auto log = refused_start();
    const std::string remedy = "ALTER TABLE walrelay.dead_letter DISABLE TRIGGER \"Act\";";
    ASSERT_NE(log.find(remedy), std::string::npos) << log;
    bench.execute(remedy);
    bench.start();
    bench.stop();
}

TEST_P(Strangers, TableThatFollowsOneOfWalrelaysStopsIt) {
    bench.create_table();
    ASSERT_EQ(bench.command({"init"}).exit_code, 0);
    bench.execute("GRANT USAGE ON SCHEMA walrelay TO " + stranger() +
                  "; GRANT REFERENCES ON walrelay.halt TO " + stranger() +
                  "; CREATE SCHEMA theirs AUTHORIZATION " + stranger());
    execute_as_stranger(
        "CREATE TABLE theirs.follower (slot text REFERENCES walrelay.halt (slot) ON DELETE "
        "CASCADE)");
    const auto log = refused_start();
    EXPECT_NE(log.find("the table theirs.follower of a role that is not trusted has a foreign key"),
              std::string::npos)
        << log;
    execute_as_stranger("DROP TABLE theirs.follower");
    bench.start();
    bench.stop();
}

/// The planner evaluates what calls an immutable function with constants.
TEST_P(Strangers, CheckPlansNothingOnATableWhoseCodeIsNotTrusted) {
    bench.create_table();
    bench.execute(
        "CREATE SCHEMA theirs; CREATE TABLE theirs.ran (at timestamptz); CREATE FUNCTION "
        "theirs.note() RETURNS int LANGUAGE sql AS 'INSERT INTO theirs.ran VALUES (now()) "
        "RETURNING 1'; CREATE FUNCTION theirs.evil(i int) RETURNS int LANGUAGE plpgsql IMMUTABLE "
        "AS $$ BEGIN RETURN theirs.note(); END $$; CREATE INDEX ON outbox_events "
        "((length(status) + theirs.evil(1))); ALTER FUNCTION theirs.evil OWNER TO " +
        stranger() + "; TRUNCATE theirs.ran");
    bench.set_outbox(
        "[[outbox]]\ntable = 'outbox_events'\nsubject = '%.x'\n"
        "on_published = \"status = 'published'\"\n");
    const auto checked = bench.command({"check", "--json"});
    EXPECT_NE(checked.output.find("\"code_of_others\""), std::string::npos) << checked.output;
    (void)refused_start();
    EXPECT_EQ(bench.session().value_of("SELECT count(*) FROM theirs.ran"), "0");
}

TEST_P(Strangers, LocksThatAnyRoleCanTakeKeepNobodyFromTheTrail) {
    bench.create_table();
    bench.set_replay("keep = '1h'\n");
    auto holder = bench.session();
    holder.execute("SET ROLE " + stranger() +
                   "; SELECT pg_advisory_lock(hashtextextended('walrelay: kept positions of slot " +
                   bench.name() + "', 0))");
    bench.start();
    EXPECT_TRUE(eventually(patience, [&] {
        return bench.session().value_of(
                   "SELECT count(*) FROM pg_replication_slots WHERE slot_name = '" + bench.name() +
                   "_trail'") == "1";
    })) << bench.relay().log();
    bench.stop();
}

TEST_P(Strangers, RowOfASlotThatWalrelayDidNotMakeDropsNothing) {
    bench.create_table();
    bench.set_replay("keep = '1h'\n");
    ASSERT_EQ(bench.command({"init"}).exit_code, 0);
    const auto victim = bench.name() + "_victim";
    bench.execute("SELECT pg_create_logical_replication_slot('" + victim +
                  "', 'pgoutput'); GRANT USAGE ON SCHEMA walrelay TO " + stranger() +
                  "; GRANT INSERT ON walrelay.bookmark TO " + stranger());
    execute_as_stranger(
        "INSERT INTO walrelay.bookmark (kept_slot, slot, name, expires_at) VALUES ('" + victim +
        "', '" + bench.name() + "', 'x', now() - interval '1 hour')");
    bench.start();
    // By then it has looked.
    ASSERT_TRUE(eventually(patience, [&] {
        return bench.session().value_of(
                   "SELECT count(*) FROM pg_replication_slots WHERE slot_name = '" + bench.name() +
                   "_trail'") == "1";
    })) << bench.relay().log();
    EXPECT_EQ(bench.session().value_of("SELECT count(*) FROM pg_replication_slots WHERE "
                                       "slot_name = '" +
                                       victim + "'"),
              "1");
    bench.stop();
    bench.execute("SELECT pg_drop_replication_slot('" + victim + "')");
}

/// wal2json is refused where others may create tables.
class StrangersWithPgoutput : public Strangers {};

TEST_P(Strangers, CodeBehindAForeignKeyStopsARelayThatDeletesRows) {
    bench.create_table();
    bench.set_outbox("[[outbox]]\ntable = 'outbox_events'\nsubject = '%.x'\ndelete_after = '0s'\n");
    bench.start();
    bench.execute("CREATE SCHEMA theirs AUTHORIZATION " + stranger() +
                  "; GRANT REFERENCES ON outbox_events TO " + stranger());
    execute_as_stranger(
        "CREATE TABLE theirs.follower (id uuid REFERENCES public.outbox_events ON DELETE CASCADE)");
    EXPECT_EQ(bench.relay().process().wait_exit(patience), 3) << bench.relay().log();
    EXPECT_NE(bench.relay().log().find("the foreign key of table theirs.follower"),
              std::string::npos)
        << bench.relay().log();
    const auto checked = bench.command({"check", "--json"});
    EXPECT_NE(checked.output.find("\"code_of_others\""), std::string::npos) << checked.output;
    execute_as_stranger("DROP TABLE theirs.follower");
    bench.execute("DROP SCHEMA theirs; REVOKE REFERENCES ON outbox_events FROM " + stranger());
    bench.start();
    bench.execute(insert_event(1));
    EXPECT_TRUE(bench.wait_for_messages(1)) << bench.relay().log();
}

TEST_P(StrangersWithPgoutput, OperatorOfSomebodyElseDoesNotRunAsWalrelay) {
    bench.create_table();
    make_hostile_operator();
    bench.set_outbox(
        "[[outbox]]\ntable = 'outbox_events'\nsubject = '%.{aggregate_type}.{event_type}'\n"
        "pending = \"status = 'pending'\"\non_published = \"status = 'published'\"");
    bench.start();
    bench.execute(insert_events(1, 3));
    ASSERT_TRUE(eventually(patience, [&] {
        return bench.session().value_of(
                   "SELECT count(*) FROM outbox_events WHERE status OPERATOR(pg_catalog.=) "
                   "'published'") == "3";
    }));
    bench.expect_relayed(event_ids(1, 3));
    EXPECT_EQ(bench.session().value_of("SELECT count(*) FROM ran_as"), "0");
}

TEST_P(Strangers, StatementThatNeedsAnOpenSchemaIsRefusedWithTheWayOut) {
    bench.create_table();
    bench.execute(
        "CREATE FUNCTION public.sent() RETURNS text LANGUAGE sql AS $$ SELECT 'sent' $$;"
        "GRANT CREATE ON SCHEMA public TO " +
        stranger());
    bench.set_outbox(
        "[[outbox]]\ntable = 'outbox_events'\nsubject = '%.x'\non_published = 'status = sent()'");
    const auto log = refused_start();
    EXPECT_NE(log.find("REVOKE CREATE ON SCHEMA \"public\" FROM PUBLIC;"), std::string::npos)
        << log;
    bench.execute("REVOKE CREATE ON SCHEMA public FROM " + stranger());
    bench.start();
    bench.execute(insert_event(1));
    ASSERT_TRUE(eventually(patience, [&] {
        return bench.session().value_of("SELECT status FROM outbox_events") == "sent";
    }));
    bench.stop();
}

TEST_P(Strangers, OperatorThatIsLeftFromBeforeDoesNotRunEither) {
    bench.create_table();
    make_hostile_operator();
    bench.execute("REVOKE CREATE ON SCHEMA public FROM " + stranger());
    bench.set_outbox(
        "[[outbox]]\ntable = 'outbox_events'\nsubject = '%.{aggregate_type}.{event_type}'\n"
        "pending = \"status = 'pending'\"\non_published = \"status = 'published'\"");
    bench.start();
    bench.execute(insert_events(1, 3));
    ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    bench.expect_relayed(event_ids(1, 3));
    EXPECT_EQ(bench.session().value_of("SELECT count(*) FROM ran_as"), "0");
}

INSTANTIATE_TEST_SUITE_P(Plugins, Strangers, both_plugins(), plugin_name);
INSTANTIATE_TEST_SUITE_P(, StrangersWithPgoutput, testing::Values("pgoutput"), plugin_name);

}  // namespace
}  // namespace walrelay::test
