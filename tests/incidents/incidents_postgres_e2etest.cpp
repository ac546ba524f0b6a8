// Nights of PostgreSQL: away, or changed by a migration.
#include "incidents/incident.hpp"

namespace walrelay::test {
namespace {

class PostgresIncident : public incident {};

TEST_F(PostgresIncident, PostgresIsGone) {
    begin();
    postgres.stop(postgres_stop::fast);
    tells({"waiting_postgres", false, false, "PostgreSQL", {"WalrelayWaiting"}});
    postgres.start();
    bench.execute(insert_events(101, 110));
    has_each_row_once();
}

TEST_F(PostgresIncident, ThePublicationIsDropped) {
    begin();
    bench.execute("DROP PUBLICATION \"" + bench.name() + "\"");
    bench.execute(insert_events(101, 110));
    tells({"halted", false, false, "publication", {"WalrelayHalted"}});
    // As it was offered: pgoutput cannot read what was written before another publication.
    relay.reset();
    bench.set_plugin("wal2json");
    ASSERT_NO_FATAL_FAILURE(takes_offer("init --switch-plugin"));
    relay.emplace(bench, "again");
    has_each_row_once();
}

TEST_F(PostgresIncident, ATableIsRenamed) {
    begin();
    ASSERT_NO_FATAL_FAILURE(is_about_to_look());
    strikes();
    bench.execute("ALTER TABLE outbox_events RENAME TO elsewhere");
    // No row comes any more that would tell.
    tells({"halted", false, false, "outbox_events", {"WalrelayHalted"}}, heard::by_asking);
    bench.execute("ALTER TABLE elsewhere RENAME TO outbox_events");
    bench.execute(insert_events(101, 110));
    is_healed();
}

TEST_F(PostgresIncident, ATableIsTakenOutOfThePublication) {
    begin();
    bench.execute("ALTER PUBLICATION \"" + bench.name() + "\" DROP TABLE outbox_events");
    bench.execute(insert_events(101, 110));
    tells({"halted", false, false, "does not hold table public.outbox_events", {"WalrelayHalted"}});
    bench.execute("ALTER PUBLICATION \"" + bench.name() + "\" ADD TABLE outbox_events");
    is_healed();
}

TEST_F(PostgresIncident, ThePublicationLeavesInsertsOut) {
    begin();
    bench.execute("ALTER PUBLICATION \"" + bench.name() + "\" SET (publish = 'delete')");
    bench.execute(insert_events(101, 110));
    tells({"halted", false, false, "does not publish inserts", {"WalrelayHalted"}});
    bench.execute("ALTER PUBLICATION \"" + bench.name() + "\" SET (publish = 'insert')");
    is_healed();
}

TEST_F(PostgresIncident, ARowFilterIsAdded) {
    begin();
    bench.execute("ALTER PUBLICATION \"" + bench.name() +
                  "\" SET TABLE outbox_events WHERE (version < 0), walrelay.control");
    bench.execute(insert_events(101, 110));
    tells({"halted", false, false, "row filter", {"WalrelayHalted"}});
    bench.execute("ALTER PUBLICATION \"" + bench.name() +
                  "\" SET TABLE outbox_events, walrelay.control");
    is_healed();
}

TEST_F(PostgresIncident, RightsAreRevoked) {
    bench.set_outbox(
        "[[outbox]]\ntable = 'outbox_events'\nsubject = '%.{aggregate_type}'\n"
        "on_published = \"status = 'sent'\"\n");
    ASSERT_NO_FATAL_FAILURE(relays_as_a_role("SELECT, UPDATE"));
    begin();
    bench.execute("REVOKE UPDATE ON outbox_events FROM " + role());
    strikes();
    bench.execute(insert_events(101, 110));
    tells({"halted", false, false, "may not", {"WalrelayHalted"}});
    bench.execute("GRANT UPDATE ON outbox_events TO " + role());
    has_each_row_once();
}

TEST_F(PostgresIncident, RowLevelSecurityIsSwitchedOn) {
    ASSERT_NO_FATAL_FAILURE(relays_as_a_role("SELECT"));
    begin();
    ASSERT_NO_FATAL_FAILURE(is_about_to_look());
    strikes();
    bench.execute("ALTER TABLE outbox_events ENABLE ROW LEVEL SECURITY");
    tells({"streaming",
           true,
           true,
           "code=row_security_hides_rows",
           {"WalrelayFindings"},
           "row-level security of table public.outbox_events",
           "",
           "ready: streaming; found: row_security_hides_rows\n"},
          heard::by_asking);
    bench.execute("ALTER TABLE outbox_events DISABLE ROW LEVEL SECURITY");
    bench.execute(insert_events(101, 110));
    has_each_row_once();
}

TEST_F(PostgresIncident, ConnectionsFlap) {
    begin();
    const auto first = read_metrics();
    for (int time = 0; time < 3; ++time) {
        ASSERT_TRUE(eventually(patience, [&] { return bench.streaming(); }));
        (void)bench.slot("pg_terminate_backend(active_pid)");
        ASSERT_TRUE(eventually(patience, [&] { return !bench.streaming(); }));
    }
    bench.execute(insert_events(101, 110));
    ASSERT_TRUE(relay->is("streaming", true, true));
    expect_alerts_since(first, {"WalrelayFlapping"});
    strikes();
    tells({"streaming",
           true,
           true,
           "terminating connection due to administrator command",
           {},
           "last trouble",
           "\"last_trouble\":{"});
    has_each_row_once();
}

}  // namespace
}  // namespace walrelay::test
