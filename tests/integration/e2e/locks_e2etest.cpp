// What somebody else locks is told, and shown as a relay that does not read: the slot waits for it.
#include "integration/e2e/answering_relay.hpp"
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"

#include <gmock/gmock.h>

#include <future>

namespace walrelay::test {
namespace {

using testing::HasSubstr;

class Locks : public e2e_test {
protected:
    Locks() {
        bench.create_table();
        bench.execute("ALTER TABLE outbox_events ALTER event_data SET STORAGE EXTERNAL");
        bench.set_outbox(
            "[[outbox]]\ntable = 'public.outbox_events'\nsubject = '%.{aggregate_type}'\n"
            "republish = { column = 'status', value = 'again' }\n");
    }
    [[nodiscard]] bool is_told(const relay_process& relay) {
        return eventually(patience, [&] {
            return relay.log().find("canceling statement due to lock timeout") != std::string::npos;
        });
    }
    void relay_a_large_row() {
        bench.execute(
            "INSERT INTO outbox_events (id, aggregate_type, aggregate_id, event_type, event_data, "
            "status, version, created_at) VALUES ('" +
            event_id(1) +
            "', 'order', '1', 'placed', jsonb_build_object('t', repeat('x', 50000)), 'new', 1, "
            "now())");
        ASSERT_TRUE(bench.confirms_messages(1));
    }
};

/// The UPDATE has left a large value alone, so that the row is fetched.
TEST_P(Locks, OfARowThatIsToBeFetchedAreTold) {
    answering_relay relay(bench, "relay");
    ASSERT_TRUE(relay.is("streaming", true, true));
    relay_a_large_row();
    auto writer = bench.session();
    auto locker = bench.session();
    writer.execute("BEGIN");
    writer.execute("UPDATE outbox_events SET status = 'again'");
    locker.execute("BEGIN");
    auto locked = std::async(std::launch::async, [&] {
        locker.execute("LOCK TABLE outbox_events IN ACCESS EXCLUSIVE MODE");
    });
    // It is the next to get the lock, before anybody can read the row.
    EXPECT_TRUE(eventually(patience, [&] {
        return bench.session().value_of(
                   "SELECT count(*) FROM pg_locks WHERE NOT granted AND "
                   "relation = 'outbox_events'::regclass") == "1";
    }));
    writer.execute("COMMIT");
    locked.get();
    EXPECT_TRUE(is_told(relay.process())) << relay.process().log();
    locker.execute("COMMIT");
    EXPECT_TRUE(bench.wait_for_messages(2)) << relay.process().log();
}

TEST_P(Locks, OfTheWitnessAreTold) {
    bench.start();
    relay_a_large_row();
    auto locker = bench.session();
    locker.execute("BEGIN");
    locker.execute("SELECT FROM walrelay.witness FOR UPDATE");
    bench.execute(insert_event(2));
    EXPECT_TRUE(is_told(bench.relay())) << bench.relay().log();
    locker.execute("COMMIT");
    EXPECT_TRUE(bench.confirms_messages(2)) << bench.relay().log();
}

/// The window has room for thousands more.
TEST_P(Locks, OfDeadLettersPauseTheReading) {
    answering_relay relay(bench, "relay");
    ASSERT_TRUE(relay.is("streaming", true, true));
    relay_a_large_row();
    // Makes the table of dead letters.
    bench.execute(
        "INSERT INTO outbox_events SELECT (e).* FROM (SELECT jsonb_populate_record(e, "
        "'{\"id\": \"00000000-0000-4000-8000-000000009998\", \"aggregate_type\": \"\", "
        "\"version\": 98}') AS e FROM outbox_events AS e WHERE version = 1) AS x");
    ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    EXPECT_TRUE(relay.comes_to_say("/metrics", "\nwalrelay_reading_paused 0\n"));
    auto locker = bench.session();
    locker.execute("BEGIN");
    locker.execute("LOCK TABLE walrelay.dead_letter IN ACCESS EXCLUSIVE MODE");
    bench.execute(
        "INSERT INTO outbox_events SELECT (e).* FROM (SELECT jsonb_populate_record(e, "
        "jsonb_build_object('id', gen_random_uuid(), 'aggregate_type', '', 'version', "
        "100 + n)) AS e FROM outbox_events AS e, generate_series(1, 3000) AS n WHERE "
        "version = 1) AS x");
    EXPECT_TRUE(relay.comes_to_say("/metrics", "\nwalrelay_reading_paused 1\n"))
        << relay.get("/status").body;
    EXPECT_THAT(relay.get("/status").body, HasSubstr("\"reading_paused\":true"));
    locker.execute("COMMIT");
    EXPECT_TRUE(relay.comes_to_say("/metrics", "\nwalrelay_reading_paused 0\n"));
}

INSTANTIATE_TEST_SUITE_P(Plugins, Locks, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
