// postgres.writer: code of others runs where rows are changed, and as a role that may do nothing
// else.
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"

namespace walrelay::test {
namespace {

class Writer : public e2e_test {
protected:
    Writer() : writer_("writer_" + bench.name()), stranger_("stranger_" + bench.name()) {
        bench.create_table();
        bench.execute("CREATE ROLE " + writer_ + " LOGIN; CREATE ROLE " + stranger_ +
                      "; GRANT SELECT, UPDATE, DELETE ON outbox_events TO " + writer_ +
                      "; CREATE SCHEMA theirs AUTHORIZATION " + stranger_ +
                      "; GRANT USAGE ON SCHEMA theirs TO PUBLIC; CREATE TABLE theirs.ran_as (role "
                      "text); GRANT ALL ON theirs.ran_as TO PUBLIC");
        EXPECT_EQ(bench.command({"init"}).exit_code, 0);
        bench.execute("GRANT USAGE ON SCHEMA walrelay TO " + writer_ +
                      "; GRANT SELECT ON walrelay.dead_letter TO " + writer_);
        bench.set_postgres("writer = 'user=" + writer_ + "'\n");
    }
    ~Writer() override {
        auto session = bench.session();
        session.execute("DROP OWNED BY " + writer_ + ", " + stranger_ + " CASCADE; DROP ROLE " +
                        writer_ + ", " + stranger_);
    }
    void set_outbox(const std::string& more) {
        bench.set_outbox("[[outbox]]\ntable = 'outbox_events'\nsubject = '%.x'\n" + more);
    }
    /// A trigger of the table's owner whose function somebody else may change at any time, and has.
    void let_a_stranger_see(const std::string& event) {
        bench.execute(
            "CREATE FUNCTION theirs.see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO "
            "theirs.ran_as VALUES (current_user); RETURN NULL; END $$; ALTER FUNCTION theirs.see "
            "OWNER TO " +
            stranger_ + "; CREATE TRIGGER see AFTER " + event +
            " ON outbox_events FOR EACH ROW EXECUTE FUNCTION theirs.see()");
    }
    [[nodiscard]] std::string ran_as() const {
        return bench.session().value_of(
            "SELECT coalesce(string_agg(DISTINCT role, ' '), '') FROM theirs.ran_as");
    }
    void expect_eventually(const std::string& sql, const std::string& value) {
        EXPECT_TRUE(eventually(patience, [&] { return bench.session().value_of(sql) == value; }))
            << sql << " is " << bench.session().value_of(sql) << "\n"
            << bench.relay().log();
    }
    void expect_no_finding(const std::string& code) {
        const auto checked = bench.command({"check", "--json"});
        EXPECT_EQ(checked.output.find("\"" + code + "\""), std::string::npos) << checked.output;
    }

    std::string writer_;
    std::string stranger_;
};

TEST_P(Writer, WritesBackWhereATriggerRunsCodeOfOthers) {
    set_outbox("on_published = \"status = 'published'\"\n");
    let_a_stranger_see("UPDATE");
    bench.set_postgres("");
    EXPECT_NE(bench.command({"check", "--json"}).output.find("\"triggers_of_others\""),
              std::string::npos);
    bench.set_postgres("writer = 'user=" + writer_ + "'\n");
    expect_no_finding("triggers_of_others");
    expect_no_finding("writer_too_strong");
    bench.start();
    bench.execute(insert_events(1, 3));
    expect_eventually("SELECT count(*) FROM outbox_events WHERE status = 'published'", "3");
    EXPECT_EQ(ran_as(), writer_);
    bench.expect_relayed(event_ids(1, 3));
}

TEST_P(Writer, DeletesRowsWhereOthersFollowByAForeignKey) {
    set_outbox("delete_after = '1s'\n");
    let_a_stranger_see("DELETE");
    bench.start();
    bench.execute(insert_events(1, 3));
    expect_eventually("SELECT count(*) FROM outbox_events", "0");
    EXPECT_EQ(ran_as(), writer_);
    EXPECT_EQ(bench.messages().size(), 3U);
}

TEST_P(Writer, KeepsDeadLettersWithTheirStatus) {
    // No subject has an empty token.
    bench.set_outbox(
        "[[outbox]]\ntable = 'outbox_events'\nsubject = '%.{aggregate_id}'\n"
        "on_dead_letter = \"status = 'dead'\"\n");
    let_a_stranger_see("UPDATE");
    bench.start();
    bench.execute(insert_event(1, ""));
    expect_eventually("SELECT count(*) FROM outbox_events WHERE status = 'dead'", "1");
    EXPECT_EQ(ran_as(), writer_);
    // It commits apart from its row's status, which the writer keeps.
    expect_eventually("SELECT count(*) FROM walrelay.dead_letter", "1");
}

TEST_P(Writer, ThatMayReplicateStopsTheRelay) {
    set_outbox("on_published = \"status = 'published'\"\n");
    let_a_stranger_see("UPDATE");
    bench.start();
    bench.execute("ALTER ROLE " + writer_ + " REPLICATION");
    EXPECT_EQ(bench.relay().process().wait_exit(patience), 3) << bench.relay().log();
    EXPECT_NE(bench.relay().log().find("which has REPLICATION"), std::string::npos)
        << bench.relay().log();
    bench.execute("ALTER ROLE " + writer_ + " NOREPLICATION");
    bench.start();
    bench.execute(insert_event(1));
    expect_eventually("SELECT count(*) FROM outbox_events WHERE status = 'published'", "1");
}

TEST_P(Writer, OfAnotherDatabaseChangesNothing) {
    set_outbox("on_published = \"status = 'published'\"\n");
    bench.set_postgres("writer = 'user=" + writer_ + " dbname=postgres'\n");
    bench.launch();
    EXPECT_TRUE(eventually(patience, [&] {
        return bench.relay().log().find("postgres.writer leads to database postgres") !=
               std::string::npos;
    })) << bench.relay().log();
    const auto checked = bench.command({"check"});
    EXPECT_EQ(checked.exit_code, 1) << checked.output;
    EXPECT_NE(checked.output.find("leave host, port and dbname out of postgres.writer"),
              std::string::npos)
        << checked.output;
}

TEST_P(Writer, WithoutARightIsNamedWithTheGrant) {
    set_outbox("on_published = \"status = 'published'\"\n");
    bench.execute("REVOKE UPDATE ON outbox_events FROM " + writer_ +
                  "; REVOKE SELECT ON walrelay.dead_letter FROM " + writer_);
    const auto checked = bench.command({"check"});
    EXPECT_EQ(checked.exit_code, 1) << checked.output;
    for (const auto& fix :
         {"GRANT SELECT, UPDATE ON \"public\".\"outbox_events\" TO \"" + writer_ + "\";",
          "GRANT SELECT ON walrelay.dead_letter TO \"" + writer_ + "\";"}) {
        EXPECT_NE(checked.output.find(fix), std::string::npos) << fix << "\n" << checked.output;
        bench.execute(fix);
    }
    EXPECT_EQ(bench.command({"check"}).exit_code, 0);
}

INSTANTIATE_TEST_SUITE_P(Plugins, Writer, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
