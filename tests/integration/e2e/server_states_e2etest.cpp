// What PostgreSQL refuses for now is waited for, and said with what ends it; what it refuses until
// somebody has decided is found by `check` as well as by `run`, with a way out.
#include "integration/e2e/relay_bench.hpp"
#include "support/child_process.hpp"
#include "support/eventually.hpp"

#include <gmock/gmock.h>

#include <fstream>

namespace walrelay::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* with_statuses = R"toml(
[[outbox]]
table = 'public.outbox_events'
subject = '%.{aggregate_type}.{event_type}'
pending = "status = 'pending'"
on_published = "status = 'published'"
on_dead_letter = "status = 'dead_letter'"
)toml";

class ServerStates : public e2e_test {
protected:
    [[nodiscard]] bool becomes(const std::string& where, const std::string& wanted) const {
        return eventually(patience, [&] {
            return bench.session().value_of("SELECT count(*) FROM outbox_events WHERE " + where) ==
                   wanted;
        });
    }
    [[nodiscard]] bool is_logged(const std::string& words) {
        return eventually(patience,
                          [&] { return bench.relay().log().find(words) != std::string::npos; });
    }

    /// As a service sets a database whose disk is nearly full: who is not new to it is sent away.
    void set_read_only(const char* how) const {
        write_all_the_same("ALTER DATABASE \"" + bench.database() + "\" " + how);
        bench.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()");
    }
    void begin_read_only() const { set_read_only("SET default_transaction_read_only = on"); }
    void end_read_only() const { set_read_only("RESET default_transaction_read_only"); }

    void run_as_migration(const std::string& sql) const {
        const auto file = bench.folder() / "migration.sql";
        std::ofstream(file) << sql;
        child_process run(
            {.program = "psql",
             .arguments = {"-X", "-q", "-v", "ON_ERROR_STOP=1", "-d",
                           bench.conninfo() + " application_name=migration", "-f", file.string()},
             .folder = bench.folder(),
             .name = "migration"});
        ASSERT_EQ(run.wait_exit(patience), 0) << run.standard_error();
    }

    /// A service that has the right still writes.
    void write_all_the_same(const std::string& sql) const {
        auto writer = bench.session();
        writer.execute("SET default_transaction_read_only = off");
        writer.execute(sql);
    }
};

TEST_P(ServerStates, ReadOnlyModeHoldsStatusesAndLettersBackAndNoMessage) {
    bench.create_table();
    bench.set_outbox(with_statuses);
    bench.start();
    bench.execute(insert_events(1, 5));
    ASSERT_TRUE(becomes("status = 'published'", "5"));
    begin_read_only();
    write_all_the_same(insert_events(6, 10));
    ASSERT_TRUE(bench.wait_for_messages(10));
    ASSERT_TRUE(is_logged("could not be written back: PostgreSQL takes no writes"))
        << bench.relay().log();
    EXPECT_THAT(bench.relay().log(), HasSubstr("default_transaction_read_only"));
    write_all_the_same(
        "INSERT INTO outbox_events (id, aggregate_type, aggregate_id, event_type, event_data, "
        "status, version, created_at) VALUES ('00000000-0000-0000-0000-00000000dead', '', 'a', "
        "'e', '{}', 'pending', 11, now())");
    end_read_only();
    ASSERT_TRUE(becomes("status = 'published'", "10")) << bench.relay().log();
    ASSERT_TRUE(becomes("status = 'dead_letter'", "1")) << bench.relay().log();
    ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    bench.stop();
    EXPECT_TRUE(exactly_once_in_order(event_ids(1, 10), bench.events()));
}

TEST_P(ServerStates, StartsInReadOnlyMode) {
    bench.create_table();
    bench.set_outbox(with_statuses);
    bench.start();
    bench.execute(insert_events(1, 5));
    ASSERT_TRUE(becomes("status = 'published'", "5"));
    bench.stop();
    begin_read_only();
    const auto looked = bench.command({"check"});
    EXPECT_EQ(looked.exit_code, 0) << looked.output;
    bench.start();
    write_all_the_same(insert_events(6, 10));
    ASSERT_TRUE(bench.wait_for_messages(10));
    end_read_only();
    ASSERT_TRUE(becomes("status = 'published'", "10")) << bench.relay().log();
    bench.stop();
    EXPECT_TRUE(exactly_once_in_order(event_ids(1, 10), bench.events()));
}

TEST_P(ServerStates, AFirstStartInReadOnlyModeMakesNothingAndWaits) {
    bench.create_table();
    bench.set_delivery("backoff_max = '200ms'\n");
    begin_read_only();
    const auto named =
        AllOf(HasSubstr("takes no writes"), HasSubstr("default_transaction_read_only"));
    const auto looked = bench.command({"check"});
    EXPECT_EQ(looked.exit_code, 1);
    EXPECT_THAT(looked.output, named) << looked.errors;
    const auto made = bench.command({"init"});
    EXPECT_EQ(made.exit_code, 3);
    EXPECT_THAT(made.errors, named);
    bench.launch();
    ASSERT_TRUE(is_logged("is not created before PostgreSQL is there")) << bench.relay().log();
    EXPECT_THAT(bench.relay().log(), named);
    EXPECT_FALSE(bench.broker().state(bench.stream_name())) << "a stream was made";
    EXPECT_FALSE(bench.slot("slot_name")) << "a slot was made";
    end_read_only();
    ASSERT_TRUE(eventually(patience, [&] { return bench.streaming(); })) << bench.relay().log();
    bench.execute(insert_events(1, 3));
    bench.expect_relayed(event_ids(1, 3));
}

TEST_P(ServerStates, AnEventTriggerThatRefusesIsNamedByCheckInitAndRun) {
    bench.create_table();
    bench.execute(
        "CREATE FUNCTION only_migrations() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN "
        "IF current_setting('application_name') <> 'migration' THEN RAISE EXCEPTION "
        "'DDL only through migrations'; END IF; END $$;"
        "CREATE EVENT TRIGGER only_migrations ON ddl_command_start "
        "EXECUTE FUNCTION only_migrations()");
    const auto looked = bench.command({"check"});
    EXPECT_THAT(looked.output, HasSubstr("DDL only through migrations")) << looked.errors;
    const auto made = bench.command({"init"});
    EXPECT_EQ(made.exit_code, 3) << made.errors;
    EXPECT_THAT(made.errors, AllOf(HasSubstr("DDL only through migrations"),
                                   HasSubstr("event trigger"), HasSubstr("init --print")));
    const auto nothing_is_made = [&] {
        EXPECT_FALSE(bench.slot("slot_name")) << "it was made before all could be";
        EXPECT_FALSE(bench.broker().state(bench.stream_name())) << "a stream was made";
    };
    nothing_is_made();
    // With wal2json it can relay without, and says what it lacks then.
    if (bench.plugin() == "pgoutput") {
        bench.launch();
        EXPECT_EQ(bench.relay().process().wait_exit(patience), 3) << bench.relay().log();
        EXPECT_THAT(bench.relay().log(), HasSubstr("DDL only through migrations"));
        nothing_is_made();
    }
    // The way that the errors name.
    const auto printed = bench.command({"init", "--print=sql"});
    ASSERT_EQ(printed.exit_code, 0) << printed.errors;
    run_as_migration(printed.output);
    bench.start();
    bench.execute(insert_events(1, 3));
    bench.expect_relayed(event_ids(1, 3));
}

INSTANTIATE_TEST_SUITE_P(Plugins, ServerStates, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
