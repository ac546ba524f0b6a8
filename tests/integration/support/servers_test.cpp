// The servers of the tests keep their port and their data, and the readers read what is there.
#include "support/eventually.hpp"
#include "support/nats_server.hpp"
#include "support/outbox_events.hpp"
#include "support/postgres_server.hpp"
#include "support/postgres_standby.hpp"
#include "support/stream_follower.hpp"
#include "support/stream_reader.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

namespace walrelay::test {
namespace {

constexpr std::chrono::seconds patience{20};

TEST(PostgresServer, KeepsPortAndDataThroughEveryKindOfStop) {
    postgres_server server;
    const auto port = server.port();
    server.session().execute("CREATE TABLE kept (n int); INSERT INTO kept VALUES (1)");
    server.stop(postgres_stop::fast);
    server.start();
    server.stop(postgres_stop::immediate);
    server.start();
    server.kill_9();
    server.start();
    EXPECT_EQ(server.port(), port);
    EXPECT_EQ(server.session().value_of("SELECT sum(n) FROM kept"), "1");
    EXPECT_EQ(postgres_session(server.socket_conninfo()).value_of("SHOW wal_level"), "logical");
}

TEST(PostgresServer, GetsASavedDiskBack) {
    postgres_server server;
    const temporary_folder saved("saved");
    server.session().execute("CREATE TABLE kept (n int); INSERT INTO kept VALUES (1)");
    server.stop(postgres_stop::fast);
    server.save_disk(saved.path() / "data");
    server.start();
    server.session().execute("INSERT INTO kept VALUES (2)");
    server.stop(postgres_stop::immediate);
    server.restore_disk(saved.path() / "data");
    server.start();
    EXPECT_EQ(server.session().value_of("SELECT sum(n) FROM kept"), "1");
}

TEST(PostgresStandby, FollowsUntilItIsPromoted) {
    postgres_server primary;
    primary.session().execute("CREATE TABLE kept (n int)");
    postgres_standby standby(primary.conninfo(), {.slot = "standby_slot", .name = "follower"});
    postgres_standby silent(primary.conninfo(), {.hot_standby = false});
    primary.session().execute("INSERT INTO kept VALUES (1)");
    standby.catch_up(primary);
    EXPECT_EQ(standby.session().value_of("SELECT pg_is_in_recovery()"), "t");
    EXPECT_EQ(standby.session().value_of("SELECT sum(n) FROM kept"), "1");
    EXPECT_EQ(primary.session().value_of("SELECT count(*) FROM pg_stat_replication WHERE "
                                         "application_name = 'follower'"),
              "1");
    EXPECT_EQ(primary.session().value_of(
                  "SELECT active FROM pg_replication_slots WHERE slot_name = 'standby_slot'"),
              "t");
    primary.kill_9();
    standby.promote();
    silent.promote();
    for (const auto* each : {&standby, &silent}) {
        each->session().execute("INSERT INTO kept VALUES (2)");
        EXPECT_EQ(each->session().value_of("SELECT sum(n) FROM kept"), "3");
    }
}

TEST(PostgresServer, TakesSettingsAndEncodings) {
    postgres_server server({.settings = {"wal_level = replica"}});
    EXPECT_EQ(server.session().value_of("SHOW wal_level"), "replica");
    const auto latin = server.fresh_database("LATIN1");
    EXPECT_EQ(server.session(latin).value_of("SHOW server_encoding"), "LATIN1");
    EXPECT_NE(server.fresh_database(), latin);
    server.reconfigure("work_mem = '5MB'");
    EXPECT_TRUE(
        eventually(patience, [&] { return server.session().value_of("SHOW work_mem") == "5MB"; }));
}

TEST(PostgresSession, SaysWhatTheServerSays) {
    postgres_server server;
    auto session = server.session();
    try {
        session.execute("SELECT no_such_column");
        FAIL() << "no error";
    } catch (const std::runtime_error& failure) {
        EXPECT_NE(std::string(failure.what()).find("no_such_column"), std::string::npos);
    }
    EXPECT_EQ(session.query("SELECT $1, NULL", {"it's"}), (sql_rows{{"it's", std::nullopt}}));
    session.execute(create_outbox_events() + insert_events(1, 3));
    EXPECT_EQ(session.value_of("SELECT max(id::text) FROM outbox_events"), event_id(3));
    session.execute("CREATE TABLE copied (a int, b text)");
    session.copy_in("COPY copied FROM STDIN", "1\tx\n2\ty\n");
    EXPECT_EQ(session.value_of("SELECT string_agg(b, '' ORDER BY a) FROM copied"), "xy");
}

TEST(NatsServer, KeepsPortAndStreamsThroughRestarts) {
    nats_server server({.settings = {"max_payload: 2MB"}});
    stream_reader reader(server.url());
    reader.create({.name = "KEPT", .subjects = {"kept.>"}});
    const std::string large(1 << 20, 'x');
    EXPECT_EQ(reader.publish("kept.one", large, {{"Name", "value"}}), 1U);
    server.kill_9();
    server.start();
    server.freeze();
    server.resume();
    ASSERT_TRUE(reader.wait_for("KEPT", 1, patience));
    const auto messages = reader.read("KEPT");
    ASSERT_EQ(messages.size(), 1U);
    EXPECT_EQ(messages[0].subject, "kept.one");
    EXPECT_EQ(messages[0].body, large);
    EXPECT_EQ(messages[0].header("Name"), "value");
    EXPECT_EQ(messages[0].header("Other"), "");
}

TEST(StreamReader, ReadsEverythingThatIsLeftInOrder) {
    nats_server server;
    stream_reader reader(server.url());
    EXPECT_FALSE(reader.state("NONE").has_value());
    EXPECT_EQ(reader.message_count("NONE"), 0U);
    reader.create({.name = "ALL", .subjects = {"all.>"}});
    EXPECT_TRUE(reader.read("ALL").empty());
    constexpr std::uint64_t count = 1500;
    for (std::uint64_t number = 1; number <= count; ++number) {
        reader.publish("all.x", std::to_string(number));
    }
    reader.delete_message("ALL", count);
    reader.delete_message("ALL", 2);
    const auto messages = reader.read("ALL");
    ASSERT_EQ(messages.size(), count - 2);
    EXPECT_EQ(messages[1].sequence, 3U);
    EXPECT_EQ(messages.back().body, std::to_string(count - 1));
    EXPECT_EQ(reader.read("ALL", count - 2).size(), 1U);
    reader.purge("ALL");
    EXPECT_TRUE(reader.read("ALL").empty());
    reader.remove("ALL");
    EXPECT_FALSE(reader.state("ALL").has_value());
}

TEST(StreamFollower, HearsOfWhatWasThereAndOfWhatComes) {
    nats_server server;
    stream_reader reader(server.url());
    reader.create({.name = "HEARD", .subjects = {"heard"}});
    reader.publish("heard", "before");
    std::atomic<int> heard = 0;
    const stream_follower follower(server.url(), "HEARD",
                                   [&](const stored_message& /*message*/) { ++heard; });
    reader.publish("heard", "after");
    EXPECT_TRUE(eventually(patience, [&] { return heard == 2; }));
}

}  // namespace
}  // namespace walrelay::test
