// The relay itself is stopped, killed, idle: what it confirms is what is in the stream.
#include "integration/e2e/background_writer.hpp"
#include "integration/e2e/relay_bench.hpp"
#include "support/commit_order.hpp"
#include "support/eventually.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <random>

namespace walrelay::test {
namespace {

class RelayLife : public e2e_test {
protected:
    void SetUp() override {
        bench.create_table();
        bench.start();
    }

    [[nodiscard]] std::string conninfo() const {
        return shared_postgres().conninfo(bench.database());
    }

    /// `<system>.<timeline>.<commit LSN>.<row LSN>.<index>`.
    static std::string commit_in(const std::string& position) {
        constexpr std::size_t digits = 8;
        const auto row = position.rfind('.', position.rfind('.') - 1);
        const auto lsn = position.substr(row - 2 * digits, 2 * digits);
        return lsn.substr(0, digits) + "/" + lsn.substr(digits);
    }
    /// The commit of the last transaction but one in the stream: the relay can have been stopped
    /// between a row of the last one and its end, before which it is not confirmed.
    std::string last_ended_commit_in_stream() {
        const auto events = bench.events();
        const auto last = commit_in(events.back().position);
        const auto before =
            std::find_if(events.rbegin(), events.rend(),
                         [&](const seen_event& each) { return commit_in(each.position) != last; });
        return commit_in(before->position);
    }
};

TEST_P(RelayLife, StoppedWhenIdleHasConfirmedEverything) {
    bench.execute(insert_events(1, 1000));
    ASSERT_TRUE(bench.wait_for_messages(1000));
    bench.stop();

    // The end of the transaction, which comes after its commit record. What the server itself
    // writes after it, checkpoints and vacuums of other databases, need not have been heard of.
    EXPECT_EQ(bench.slot("confirmed_flush_lsn > " +
                         as_literal(commit_in(bench.events().back().position)) + "::pg_lsn"),
              "t");
    EXPECT_EQ(bench.slot("active"), "f");
    EXPECT_TRUE(exactly_once_in_order(event_ids(1, 1000), bench.events()));
}

TEST_P(RelayLife, StoppedUnderLoadConfirmsWhatIsInTheStream) {
    background_writer writer(conninfo());
    ASSERT_TRUE(bench.wait_for_messages(500));
    bench.stop();
    EXPECT_EQ(bench.slot("confirmed_flush_lsn > " + as_literal(last_ended_commit_in_stream()) +
                         "::pg_lsn"),
              "t")
        << last_ended_commit_in_stream() << "\n"
        << bench.relay().log();
    writer.stop();
    bench.start();
    bench.expect_relayed(bench.committed_ids());
}

TEST_P(RelayLife, StoppedWhileTheBrokerIsDownEndsInReasonableTime) {
    nats_server broker;
    relay_bench own(shared_postgres(), broker, GetParam());
    own.create_table();
    own.start();
    broker.stop();
    own.execute(insert_events(1, 100));
    EXPECT_TRUE(eventually(patience, [&] { return own.streaming(); }));
    EXPECT_EQ(own.relay().stop(20s), 0) << own.relay().log();
    broker.start();
    own.start();
    own.expect_relayed(event_ids(1, 100));
}

TEST_P(RelayLife, KilledUnderLoadAgainAndAgainLosesNothing) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    std::uniform_int_distribution<int> life_milliseconds(0, 400);
    commit_order order(shared_postgres(), bench.database());
    background_writer one(conninfo(), 1);
    background_writer two(conninfo(), 1000000);
    for (int round = 0; round < 15; ++round) {
        const auto goal = one.commits() + 1;
        (void)eventually(std::chrono::milliseconds(life_milliseconds(random)),
                         [] { return false; });
        ASSERT_TRUE(eventually(patience, [&] { return one.commits() >= goal; }));
        bench.kill_9();
        bench.start();
    }
    one.stop();
    two.stop();
    bench.expect_relayed(order.ids());
}

TEST_P(RelayLife, KilledInALargeTransactionStartsItAgainWithoutDoubles) {
    bench.execute(insert_events(1, 50000));
    for (const std::uint64_t goal : {1000U, 20000U, 40000U}) {
        ASSERT_TRUE(bench.wait_for_messages(goal));
        bench.kill_9();
        bench.start();
    }
    bench.expect_relayed(event_ids(1, 50000));
}

TEST_P(RelayLife, IdleOutboxLetsTheSlotMove) {
    bench.execute("CREATE TABLE business (n int)");
    bench.execute("INSERT INTO business SELECT generate_series(1, 10000)");
    EXPECT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    bench.execute("INSERT INTO business SELECT generate_series(1, 10000)");
    EXPECT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    bench.stop();
    EXPECT_EQ(bench.broker().message_count(bench.stream_name()), 0U);
}

TEST_P(RelayLife, SecondRelayDoesNotDisturbTheFirst) {
    relay_process second(
        {.program = WALRELAY_BINARY,
         .arguments = {"run", "--config", (bench.folder() / "walrelay.toml").string()},
         .folder = bench.folder(),
         .name = "second"});
    const auto pid = bench.slot("active_pid");
    bench.execute(insert_events(1, 100));
    ASSERT_TRUE(bench.wait_for_messages(100));
    EXPECT_TRUE(throughout(2s, [&] { return bench.slot("active_pid") == pid; }));
    second.kill_9();
    bench.expect_relayed(event_ids(1, 100));
}

/// A pipe that is full, and stays so.
class unread_pipe {
public:
    explicit unread_pipe(const std::filesystem::path& file) {
        constexpr unsigned owner = 0600;
        EXPECT_EQ(mkfifo(file.c_str(), owner), 0);
        descriptor_ = open(file.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
        const std::string block(4096, '.');
        while (write(descriptor_, block.data(), block.size()) > 0) {
        }
    }
    unread_pipe(const unread_pipe&) = delete;
    unread_pipe& operator=(const unread_pipe&) = delete;
    ~unread_pipe() { close(descriptor_); }

private:
    int descriptor_ = -1;
};

TEST_P(RelayLife, LogThatNobodyReadsHoldsNothingUp) {
    bench.stop();
    const auto file = bench.folder() / "log";
    const unread_pipe pipe(file);
    child_process relay(
        {.program = "/bin/sh",
         .arguments = {"-c", R"(exec "$0" run --config "$1" 2>"$2")", WALRELAY_BINARY,
                       (bench.folder() / "walrelay.toml").string(), file.string()},
         // They choose the tests' servers, and are no keys of the program. Its default port can be
         // another relay's.
         .environment = {{"WALRELAY_TEST_PG_BIN", ""},
                         {"WALRELAY_TEST_NATS_SERVER", ""},
                         {"WALRELAY_HTTP_LISTEN", "off"}},
         .folder = bench.folder(),
         .name = "unread"});
    bench.execute(insert_events(1, 50));
    EXPECT_TRUE(bench.wait_for_messages(50));
    EXPECT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    relay.signal(SIGTERM);
    EXPECT_EQ(relay.wait_exit(patience), 0);
}

TEST_P(RelayLife, OtherSignalsEndNothing) {
    for (const int number : {SIGHUP, SIGUSR1, SIGUSR2, SIGPIPE}) {
        bench.relay().process().signal(number);
    }
    bench.execute(insert_events(1, 10));
    ASSERT_TRUE(bench.wait_for_messages(10));
    EXPECT_TRUE(eventually(patience, [&] {
        return bench.relay().log().find(
                   "SIGHUP: nothing is reopened; files of secrets are read anew") !=
               std::string::npos;
    }));
    bench.stop();
}

INSTANTIATE_TEST_SUITE_P(, RelayLife, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
