// Every surface tells the same in every state of a relay: the endpoints, `walrelay status` in words
// and as JSON with its exit code, and the dashboard in a real browser.
#include "integration/e2e/answering_relay.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <optional>

namespace walrelay::test {
namespace {

/// Takes connections and never says a word.
class silent_server {
public:
    silent_server() : descriptor_(::socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t length = sizeof(address);
        auto* const generic = reinterpret_cast<sockaddr*>(&address);
        if (::bind(descriptor_, generic, length) != 0 || ::listen(descriptor_, 16) != 0 ||
            ::getsockname(descriptor_, generic, &length) != 0) {
            throw std::runtime_error("cannot listen");
        }
        port_ = ntohs(address.sin_port);
    }
    ~silent_server() { ::close(descriptor_); }
    silent_server(const silent_server&) = delete;
    silent_server& operator=(const silent_server&) = delete;

    [[nodiscard]] std::uint16_t port() const { return port_; }

private:
    int descriptor_;
    std::uint16_t port_ = 0;
};

class States : public testing::Test {
protected:
    static void SetUpTestSuite() { folder = std::make_unique<temporary_folder>("states"); }
    static void TearDownTestSuite() {
        browser.reset();
        folder.reset();
    }

    States() { bench.create_table(); }

    static std::filesystem::path address_file() { return folder->path() / "url"; }
    static void point_browser_at(const std::string& url) {
        // In one step: it is read at any moment.
        const auto next = folder->path() / "next";
        std::ofstream(next) << url;
        std::filesystem::rename(next, address_file());
    }

    /// What the page of that relay shows now.
    [[nodiscard]] static bool page_shows(const std::string& url, const std::string& state) {
        const auto said = browser->standard_output();
        const auto last = said.rfind('\n', said.size() - 2);
        return said.substr(last == std::string::npos ? 0 : last + 1) == url + " " + state + "\n";
    }

    /// Waits for the state, and compares all that tells it.
    void all_tell(const answering_relay& relay, const std::string& state, bool ready, bool leader) {
        const auto url = "http://127.0.0.1:" + std::to_string(relay.port()) + "/";
        point_browser_at(url);
        if (!browser) {
            browser.emplace(command{.program = WALRELAY_READ_STATE,
                                    .arguments = {address_file().string()},
                                    .environment = {{"HOME", folder->path().string()}},
                                    .folder = folder->path(),
                                    .name = "browser"});
        }
        auto words = state;
        std::ranges::replace(words, '_', ' ');
        EXPECT_TRUE(relay.is(state, ready, leader));
        for (const bool json : {false, true}) {
            const auto said = status(relay, json);
            EXPECT_EQ(said.exit_code, ready ? 0 : 1) << said.output << said.errors;
            EXPECT_TRUE(has(said.output, json ? "\"state\":\"" + state + "\"" : words + " for "))
                << said.output;
        }
        EXPECT_TRUE(eventually(patience, [&] { return page_shows(url, words); }))
            << browser->standard_output() << browser->standard_error();
        // It was the same all the time.
        EXPECT_TRUE(relay.is(state, ready, leader));
    }

    finished_run status(const answering_relay& of, bool json) {
        relay_start how{
            .program = WALRELAY_BINARY,
            .arguments = {"status", "--config", (bench.folder() / "walrelay.toml").string()},
            .folder = bench.folder(),
            .environment = {{"WALRELAY_HTTP_LISTEN", "127.0.0.1:" + std::to_string(of.port())}},
            .name = "status" + std::to_string(++count_)};
        if (json) {
            how.arguments.emplace_back("--json");
        }
        return run_to_end(how, patience);
    }

    static std::string outbox(const std::string& more = "") {
        return "[[outbox]]\ntable = 'outbox_events'\nsubject = '%.{aggregate_type}'\n" + more;
    }

    static std::unique_ptr<temporary_folder> folder;
    static std::optional<child_process> browser;

    postgres_server postgres;
    nats_server broker;
    relay_bench bench{postgres, broker, "pgoutput"};

private:
    int count_ = 0;
};

std::unique_ptr<temporary_folder> States::folder;
std::optional<child_process> States::browser;

TEST_F(States, Starting) {
    const silent_server postgres_that_says_nothing;
    bench.set_conninfo("host=127.0.0.1 port=" + std::to_string(postgres_that_says_nothing.port()) +
                       " dbname=app user=postgres connect_timeout=120");
    const answering_relay relay(bench, "relay");
    all_tell(relay, "starting", false, false);
}

TEST_F(States, Streaming) {
    const answering_relay relay(bench, "relay");
    all_tell(relay, "streaming", true, true);
}

TEST_F(States, StandbyAndTakeOver) {
    answering_relay first(bench, "first");
    ASSERT_TRUE(first.is("streaming", true, true));
    const answering_relay second(bench, "second");
    all_tell(second, "standby", true, false);
    ASSERT_EQ(first.process().stop(patience), 0);
    all_tell(second, "streaming", true, true);
}

TEST_F(States, CatchingUp) {
    bench.set_delivery("ack_timeout = '5m'");
    answering_relay relay(bench, "relay");
    ASSERT_TRUE(relay.is("streaming", true, true));
    bench.execute(insert_event(1));
    ASSERT_TRUE(bench.confirms_messages(1));
    // The connection to a broker that says nothing ends after 10 to 15 s, as many as make a row
    // old. So the relay misses most of these.
    broker.freeze();
    relay.process().process().signal(SIGSTOP);
    bench.execute(insert_event(2));
    ASSERT_TRUE(eventually(patience, [&] {
        return bench.session().value_of(
                   "SELECT clock_timestamp() > max(created_at) + interval '11 s'"
                   " FROM outbox_events") == "t";
    }));
    relay.process().process().signal(SIGCONT);
    all_tell(relay, "catching_up", true, true);
    broker.resume();
    all_tell(relay, "streaming", true, true);
}

TEST_F(States, Snapshot) {
    bench.set_postgres("snapshot = 'all'");
    bench.set_delivery("ack_timeout = '5m'\nwindow_messages = 16");
    bench.execute(insert_events(1, 20000));
    const answering_relay relay(bench, "relay");
    // So small a window takes long enough.
    ASSERT_TRUE(relay.comes_to_say("/status", "\"state\":\"snapshot\""));
    broker.freeze();
    all_tell(relay, "snapshot", true, true);
    broker.resume();
    all_tell(relay, "streaming", true, true);
    EXPECT_TRUE(relay.comes_to_say("/metrics",
                                   "walrelay_messages_stored_total{source=\"snapshot\"} 20000\n"));
}

TEST_F(States, TheBrokerIsAway) {
    const answering_relay relay(bench, "relay");
    ASSERT_TRUE(relay.is("streaming", true, true));
    bench.execute(insert_event(1));
    ASSERT_TRUE(bench.confirms_messages(1));
    broker.kill_9();
    all_tell(relay, "waiting_broker", false, true);
    broker.start();
    all_tell(relay, "streaming", true, true);
}

TEST_F(States, PostgresIsAway) {
    const answering_relay relay(bench, "relay");
    ASSERT_TRUE(relay.is("streaming", true, true));
    postgres.stop(postgres_stop::fast);
    all_tell(relay, "waiting_postgres", false, false);
    postgres.start();
    all_tell(relay, "streaming", true, true);
}

TEST_F(States, PostgresIsAwayAtTheStart) {
    // The stream is made only after a look at the database.
    ASSERT_FALSE(bench.broker().state(bench.stream_name()));
    for (const bool is_made : {false, true}) {
        SCOPED_TRACE(is_made ? "the stream is there" : "the stream is missing");
        postgres.stop(postgres_stop::fast);
        answering_relay relay(bench, is_made ? "second" : "first");
        all_tell(relay, "waiting_postgres", false, false);
        EXPECT_TRUE(has(relay.process().log(), "[postgres_lost ")) << relay.process().log();
        EXPECT_FALSE(has(relay.process().log(), "[broker_lost ")) << relay.process().log();
        const auto metrics = relay.get("/metrics").body;
        EXPECT_FALSE(has(metrics,
                         "walrelay_reconnects_total{side=\"postgres\","
                         "reason=\"unavailable\"} 0\n"))
            << metrics;
        EXPECT_TRUE(has(metrics,
                        "walrelay_reconnects_total{side=\"nats\","
                        "reason=\"unavailable\"} 0\n"))
            << metrics;
        postgres.start();
        all_tell(relay, "streaming", true, true);
        ASSERT_EQ(relay.process().stop(patience), 0);
    }
}

TEST_F(States, Halted) {
    bench.set_delivery("on_halt = 'stay'");
    bench.execute("ALTER TABLE outbox_events RENAME TO elsewhere");
    const answering_relay relay(bench, "relay");
    all_tell(relay, "halted", false, false);
    EXPECT_TRUE(relay.says("/status", "public.outbox_events"));
    EXPECT_TRUE(has(status(relay, false).output, "\nfix ")) << status(relay, false).output;
}

TEST_F(States, Draining) {
    bench.set_delivery("ack_timeout = '5m'");
    answering_relay relay(bench, "relay");
    ASSERT_TRUE(relay.is("streaming", true, true));
    // The browser is there before, as a relay drains for 10 s at most.
    all_tell(relay, "streaming", true, true);
    bench.execute(insert_event(1));
    ASSERT_TRUE(bench.confirms_messages(1));
    broker.freeze();
    bench.execute(insert_event(2));
    ASSERT_TRUE(relay.comes_to_say("/status", "\"window\":{\"messages\":1"));
    relay.process().process().signal(SIGTERM);
    all_tell(relay, "draining", false, true);
    broker.resume();
    EXPECT_EQ(relay.process().process().wait_exit(patience), 0);
}

}  // namespace
}  // namespace walrelay::test
