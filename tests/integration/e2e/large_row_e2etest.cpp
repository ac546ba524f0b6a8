// Rows that are larger than memory is to hold.
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace walrelay::test {
namespace {

/// One event with a text of so many bytes in its payload.
void insert_of(const relay_bench& bench, std::size_t bytes) {
    bench.execute(
        "INSERT INTO outbox_events (id, aggregate_id, aggregate_type, event_type, event_data, "
        "status, version, created_at) SELECT '00000000-0000-0000-0000-0000000000ff', "
        "'order-1', 'order', 'placed', to_jsonb(repeat('x', " +
        std::to_string(bytes) + ")), 'pending', 999, clock_timestamp()");
}

/// The most memory that the relay ever had.
std::uint64_t peak_bytes(relay_bench& bench) {
    return bench.relay().process().resident_peak_bytes();
}

/// As docs/sizing.md says of a payload.
constexpr std::uint64_t times_held = 3;
constexpr std::uint64_t for_all_else = std::uint64_t{64} << 20U;

class LargeRow : public e2e_test {
protected:
    LargeRow() { bench.create_table(); }

    [[nodiscard]] std::string letter(const std::string& column) const {
        return bench.session().value_of("SELECT " + column + " FROM walrelay.dead_letter");
    }
};

TEST_P(LargeRow, IsSetAsideWithoutItsContentAndTheOthersGoOn) {
    bench.set_delivery("max_row_bytes = '1MiB'\n");
    bench.start();
    bench.execute(insert_events(1, 1));
    insert_of(bench, std::size_t{3} << 20U);
    bench.execute(insert_events(2, 2));
    ASSERT_TRUE(bench.wait_for_messages(2)) << bench.relay().log();
    bench.stop();
    EXPECT_EQ(letter("event IS NULL"), "t");
    EXPECT_EQ(letter("message_id"), "00000000-0000-0000-0000-0000000000ff");
    EXPECT_NE(letter("reason").find("delivery.max_row_bytes = 1048576"), std::string::npos)
        << letter("reason");
    EXPECT_EQ(bench.command({"verify"}).exit_code, 0);
}

/// Its content is where it always was.
TEST_P(LargeRow, IsPublishedByARetryOnceItMayBeSoLarge) {
    bench.set_delivery("max_row_bytes = '100KiB'\n");
    bench.start();
    insert_of(bench, 300'000);
    bench.execute(insert_events(1, 1));
    ASSERT_TRUE(bench.wait_for_messages(1)) << bench.relay().log();
    ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    const auto early = bench.command({"dead-letter", "retry", "--all"});
    EXPECT_EQ(early.exit_code, 1) << early.output << early.errors;
    EXPECT_NE(early.errors.find("dead letter 1 stays open and was not retried"), std::string::npos)
        << early.errors;
    EXPECT_NE(early.errors.find("raise delivery.max_row_bytes above that"), std::string::npos)
        << early.errors;
    const auto shown = bench.command({"dead-letter", "show", "1"});
    EXPECT_NE(shown.output.find("no content: the row was above"), std::string::npos)
        << shown.output;
    bench.stop();
    bench.set_delivery("max_row_bytes = '1MiB'\n");
    bench.start();
    const auto retried = bench.command({"dead-letter", "retry", "--all"});
    EXPECT_EQ(retried.exit_code, 0) << retried.output << retried.errors;
    EXPECT_EQ(retried.output, "queued dead letter 1 for retry as retry-1-1\n");
    ASSERT_TRUE(bench.wait_for_messages(2)) << bench.relay().log();
    EXPECT_GT(bench.broker().read(bench.stream_name(), 1).front().body.size(), 300'000U);
    EXPECT_EQ(bench.command({"dead-letter", "list", "--open"}).output, "no open dead letters\n");
    EXPECT_EQ(bench.command({"verify"}).exit_code, 0);
    bench.stop();
}

TEST_P(LargeRow, ThatIsGoneIsSaidToBeGoneAndItsLetterCanBeDropped) {
    bench.set_delivery("max_row_bytes = '100KiB'\n");
    bench.start();
    insert_of(bench, 300'000);
    ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end())) << bench.relay().log();
    bench.execute("DELETE FROM outbox_events");
    const auto retried = bench.command({"dead-letter", "retry", "1", "7"});
    EXPECT_EQ(retried.exit_code, 1);
    EXPECT_NE(retried.errors.find("its row is not in public.outbox_events any more"),
              std::string::npos)
        << retried.errors;
    EXPECT_EQ(retried.errors.find("there is no dead letter 1"), std::string::npos);
    EXPECT_NE(retried.errors.find("there is no dead letter 7"), std::string::npos);
    EXPECT_NE(retried.errors.find("walrelay dead-letter drop 1"), std::string::npos);
    EXPECT_EQ(bench.command({"dead-letter", "drop", "1"}).exit_code, 0);
    EXPECT_EQ(bench.command({"dead-letter", "list", "--open"}).output, "no open dead letters\n");
    bench.stop();
}

/// The LSN that the running relay has named; empty where it has named none, or more than one.
std::string named_by(relay_bench& bench) {
    const auto log = bench.relay().log();
    const auto line = "[first_transaction slot=" + bench.name() + " lsn=";
    const auto at = log.find(line);
    if (at == std::string::npos || at != log.rfind(line)) {
        return {};
    }
    const auto from = at + line.size();
    return log.substr(from, log.find_first_of(" ]", from) - from);
}

/// What ends the process at each start is to be found, however much lies before it: rows that the
/// stream has, which the slot sends again, and transactions of other tables.
TEST_P(LargeRow, IsOfTheTransactionThatEachStartAfterAKillNames) {
    std::ifstream sql(WALRELAY_SQL_FOLDER "/dead_letter.sql");
    bench.execute({std::istreambuf_iterator<char>(sql), {}});
    bench.execute("CREATE TABLE of_others (id int)");
    bench.start();
    bench.execute(insert_events(1, 1));
    ASSERT_TRUE(bench.confirms_messages(1)) << bench.relay().log();
    bench.stop();
    bench.execute(insert_events(2, 30));
    bench.execute("INSERT INTO of_others VALUES (1)");
    bench.execute(insert_events(31, 50));
    bench.execute("INSERT INTO of_others VALUES (2)");
    const auto before = bench.wal_end();
    insert_of(bench, std::size_t{70} << 20U);
    const auto after = bench.wal_end();
    const auto xid = bench.session().value_of("SELECT xmin FROM outbox_events WHERE version = 999");
    bench.execute(insert_events(51, 51));
    auto holding = bench.session();
    holding.execute("BEGIN");
    holding.execute("LOCK walrelay.dead_letter IN EXCLUSIVE MODE");
    bench.start();
    ASSERT_TRUE(bench.wait_for_messages(50)) << bench.relay().log();
    // Its walsender decodes the large row to its end before it notices.
    const auto kill = [&] {
        bench.kill_9();
        return eventually(patience, [&] { return bench.slot("active") == "f"; });
    };
    ASSERT_TRUE(kill());
    for (const bool last : {false, true}) {
        bench.start();
        ASSERT_TRUE(bench.relay().wait_for_log("[first_transaction", patience))
            << bench.relay().log();
        EXPECT_EQ(bench.session().value_of("SELECT '" + named_by(bench) + "'::pg_lsn BETWEEN '" +
                                           before + "' AND '" + after + "'"),
                  "t")
            << bench.relay().log();
        // wal2json tells no xid here.
        const auto said =
            "lsn=" + named_by(bench) + (bench.plugin() == "wal2json" ? "]" : " xid=" + xid + "]");
        EXPECT_NE(bench.relay().log().find(said), std::string::npos) << said;
        if (!last) {
            ASSERT_TRUE(kill());
            holding.execute("ROLLBACK");
        }
    }
    ASSERT_TRUE(bench.wait_for_messages(51)) << bench.relay().log();
    bench.stop();
    EXPECT_NE(named_by(bench), "") << "named another one as well";
    EXPECT_EQ(letter("event IS NULL"), "t");
}

/// What it can be used with is tried by the image's test, where the kernel has the last word.
TEST_P(LargeRow, ThatTheControlGroupHasNoRoomForIsSetAsideWithoutItsContent) {
    const auto root = bench.folder() / "root";
    std::filesystem::create_directories(root / "proc/self");
    std::filesystem::create_directories(root / "sys/fs/cgroup");
    std::ofstream(root / "proc/self/cgroup") << "0::/\n";
    std::ofstream(root / "sys/fs/cgroup/memory.max") << (std::size_t{160} << 20U) << '\n';
    const auto file = bench.folder() / "group.toml";
    std::ofstream(file) << bench.configuration();
    relay_process relay({.program = WALRELAY_RELAY_IN_A_GROUP,
                         .arguments = {root.string(), "run", "--config", file.string()},
                         .folder = bench.folder(),
                         .name = "in-a-group"});
    ASSERT_TRUE(relay.wait_for_log("row_limit_lowered bytes=12582912", patience)) << relay.log();
    ASSERT_TRUE(relay.wait_for_log("streaming from slot", patience)) << relay.log();
    insert_of(bench, std::size_t{13} << 20U);
    bench.execute(insert_events(1, 1));
    ASSERT_TRUE(bench.wait_for_messages(1)) << relay.log();
    EXPECT_EQ(relay.stop(patience), 0);
    EXPECT_EQ(letter("event IS NULL"), "t") << "delivery.max_row_bytes alone would keep it";
    EXPECT_NE(letter("reason").find("12582912"), std::string::npos) << letter("reason");
}

TEST_P(LargeRow, TakesThreeTimesItsSizeOfMemoryAtMost) {
    constexpr std::size_t size = std::size_t{128} << 20U;
    bench.start();
    insert_of(bench, size);
    bench.execute(insert_events(1, 1));
    ASSERT_TRUE(bench.wait_for_messages(1)) << bench.relay().log();
    // libpq holds a message in a buffer that doubles, and hands out a copy.
    EXPECT_LT(peak_bytes(bench), 3 * size + for_all_else);
    bench.stop();
    EXPECT_EQ(letter("event IS NULL"), "t");
}

/// One that delivery.max_row_bytes lets pass, and that no broker takes: its letter holds all of it.
TEST_P(LargeRow, IsHeldAFewTimesWhereItIsKept) {
    constexpr std::size_t size = std::size_t{60} << 20U;
    bench.start();
    insert_of(bench, size);
    bench.execute(insert_events(1, 1));
    ASSERT_TRUE(bench.wait_for_messages(1)) << bench.relay().log();
    EXPECT_LT(peak_bytes(bench), times_held * size + for_all_else);
    bench.stop();
    EXPECT_EQ(letter("length(event::text) > " + std::to_string(size)), "t");
}

/// The column is in a header as well, and wal2json writes the control character as an escape that
/// its exact reader does not take: nothing that app/memory_limit has no room for.
TEST_P(LargeRow, InAHeaderIsHeldNoMoreThanMemoryIsCountedFor) {
    constexpr std::size_t size = std::size_t{60} << 20U;
    bench.execute("ALTER TABLE outbox_events ALTER COLUMN event_type TYPE text");
    bench.start();
    bench.execute(
        "INSERT INTO outbox_events (id, aggregate_id, aggregate_type, event_type, event_data, "
        "status, version, created_at) SELECT '00000000-0000-0000-0000-0000000000ff', "
        "'order-1', 'order', repeat('x', " +
        std::to_string(size) + ") || chr(1), '{}', 'pending', 999, clock_timestamp()");
    bench.execute(insert_events(1, 1));
    ASSERT_TRUE(bench.wait_for_messages(1)) << bench.relay().log();
    EXPECT_LT(peak_bytes(bench), 8 * size + for_all_else);
    bench.stop();
}

/// nats-server takes messages of at most 64 MiB.
TEST(LargeMessage, IsHeldAFewTimesWhereItIsPublished) {
    constexpr std::size_t size = std::size_t{60} << 20U;
    nats_server nats({.settings = {"max_payload: 64MB"}});
    for (const char* const plugin : {"wal2json", "pgoutput"}) {
        relay_bench bench(shared_postgres(), nats, plugin);
        bench.create_table();
        bench.start();
        insert_of(bench, size);
        bench.execute(insert_events(1, 1));
        ASSERT_TRUE(bench.wait_for_messages(2)) << bench.relay().log();
        EXPECT_LT(peak_bytes(bench), times_held * size + for_all_else);
        bench.stop();
    }
}

INSTANTIATE_TEST_SUITE_P(BothPlugins, LargeRow, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
