// What an operator reads on the page in Debian's Chromium, in five states, and the pictures of it
// in docs/monitoring.md: WALRELAY_WRITE_SCREENSHOTS=1 puts those of this run there.
#include "incidents/incident.hpp"
#include "integration/e2e/clock_ahead.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

namespace walrelay::test {
namespace {

class PageIncident : public incident {
protected:
    static void SetUpTestSuite() {
        folder = std::make_unique<temporary_folder>("page");
        std::filesystem::create_directories(WALRELAY_SCREENSHOTS);
        browser.emplace(command{.program = WALRELAY_PHOTOGRAPH,
                                .arguments = {(folder->path() / "order").string()},
                                .environment = {{"HOME", folder->path().string()}},
                                .folder = folder->path(),
                                .name = "browser"});
    }
    static void TearDownTestSuite() {
        browser.reset();
        folder.reset();
    }

    /// The state in words, and what the page says of its cause; a JSON line of all that is seen.
    static std::string page_of(const answering_relay& of, const std::string& name,
                               const std::string& state, const std::string& says) {
        const auto file = "incident-" + name + ".png";
        const auto picture = std::filesystem::path(WALRELAY_SCREENSHOTS) / file;
        const auto next = folder->path() / "next";
        std::ofstream(next) << name << "\nhttp://127.0.0.1:" << of.port() << "/\n"
                            << state << '\n'
                            << says << '\n'
                            << picture.string() << '\n';
        std::filesystem::rename(next, folder->path() / "order");
        const auto began = std::chrono::steady_clock::now();
        const auto begin = "{\"order\": \"" + name + "\"";
        std::string seen;
        EXPECT_TRUE(eventually(patience,
                               [&] {
                                   const auto all = browser->standard_output();
                                   const auto at = all.find(begin);
                                   const auto end =
                                       at == std::string::npos ? at : all.find('\n', at);
                                   seen = end == std::string::npos ? "" : all.substr(at, end - at);
                                   return !seen.empty();
                               }))
            << browser->standard_output() << browser->standard_error();
        EXPECT_TRUE(has(seen, "\"state\": \"" + state + "\"")) << seen;
        EXPECT_TRUE(has(seen, says)) << seen;
        EXPECT_LT(std::chrono::steady_clock::now() - began, agree_within(heard::at_once));
        EXPECT_LT(std::filesystem::file_size(picture), 80'000U);
        // Those that the document shows.
        if (const auto shown = std::filesystem::path(WALRELAY_IMAGES) / file;
            std::getenv("WALRELAY_WRITE_SCREENSHOTS") != nullptr && exists(shown)) {
            std::filesystem::copy_file(picture, shown,
                                       std::filesystem::copy_options::overwrite_existing);
        }
        return seen;
    }

    /// What the buttons copy, and nothing else.
    static void expect_offer(const std::string& seen, const std::string& command) {
        EXPECT_TRUE(
            has(seen, "\"commands\": [" + (command.empty() ? "" : "\"" + command + "\"") + "]"))
            << seen;
    }

    static std::unique_ptr<temporary_folder> folder;
    static std::optional<child_process> browser;
};

std::unique_ptr<temporary_folder> PageIncident::folder;
std::optional<child_process> PageIncident::browser;

TEST_F(PageIncident, AllIsWell) {
    begin();
    const auto seen = page_of(*relay, "streaming", "streaming",
                              "Every row that the slot has sent is in the stream");
    expect_offer(seen, "");
    EXPECT_TRUE(has(seen, "\"servers\": \"connected / connected\"")) << seen;
}

TEST_F(PageIncident, TheBrokerIsAway) {
    begin();
    broker.kill_9();
    bench.execute(insert_events(101, 110));
    tells({"waiting_broker", false, true, "broker", {"WalrelayWaiting", "WalrelayLag"}});
    const auto seen = page_of(*relay, "waiting-broker", "waiting broker", "broker");
    expect_offer(seen, "walrelay check");
    EXPECT_TRUE(has(seen, "the relay tries again by itself")) << seen;
    EXPECT_TRUE(has(seen, "\"servers\": \"connected / not connected\"")) << seen;
    broker.start();
    has_each_row_once();
}

TEST_F(PageIncident, TheRelayHasHalted) {
    begin();
    bench.execute("ALTER PUBLICATION \"" + bench.name() + "\" DROP TABLE outbox_events");
    bench.execute(insert_events(101, 110));
    tells({"halted", false, false, "does not hold table public.outbox_events", {"WalrelayHalted"}});
    const auto seen =
        page_of(*relay, "halted", "halted", "does not hold table public.outbox_events any more");
    expect_offer(seen, "walrelay verify");
    // It has let go of both, which are well.
    EXPECT_TRUE(has(seen,
                    "\"servers\": \"answers; let go, as the relay has halted / answers; let go, as "
                    "the relay has halted\""))
        << seen;
    EXPECT_TRUE(has(relay->get("/status").body, "\"wal_status\":\"reserved\""));
    broker.kill_9();
    ASSERT_TRUE(relay->comes_to_say("/status", "\"broker_connected\":false"));
    EXPECT_TRUE(has(relay->get("/status").body, "\"postgres_connected\":true"));
    broker.start();
    ASSERT_TRUE(relay->comes_to_say("/status", "\"broker_connected\":true"));
    bench.execute("ALTER PUBLICATION \"" + bench.name() + "\" ADD TABLE outbox_events");
    is_healed();
}

TEST_F(PageIncident, ARelayStandsBy) {
    begin();
    answering_relay leader = std::move(*relay);
    relay.emplace(bench, "second");
    ASSERT_TRUE(relay->is("standby", true, false));
    const auto seen = page_of(*relay, "standby", "standby", "Another relay holds the slot");
    expect_offer(seen, "");
    EXPECT_TRUE(has(seen, "held by walrelay")) << seen;
    EXPECT_TRUE(has(seen, "heard ")) << seen;
    leader.process().kill_9();
    has_each_row_once();
}

TEST_F(PageIncident, RowsAreSetAside) {
    bench.set_delivery("max_row_bytes = '64KiB'\nbackoff_max = '500ms'");
    begin();
    bench.execute(
        "INSERT INTO outbox_events (id, aggregate_id, aggregate_type, event_type, event_data,"
        " status, version, created_at) SELECT gen_random_uuid(), 'a', 'order', 'placed',"
        " jsonb_build_object('x', repeat('x', 100000)), 'pending', 100 + n, now()"
        " FROM generate_series(1, 5) AS n");
    const auto seen = page_of(*relay, "rows-set-aside", "streaming", "5 rows are set aside");
    expect_offer(seen, "walrelay dead-letter list --open");
    for (const auto& each :
         {"public.outbox_events", "max_row_bytes", "walrelay dead-letter show 5"}) {
        EXPECT_TRUE(has(seen, each)) << each << ": " << seen;
    }
    large_rows_are_let_through();
    has_each_row_once();
}

TEST_F(PageIncident, AReplayIsBrokenOff) {
    ASSERT_NO_FATAL_FAILURE(a_replay_breaks_off());
    ASSERT_TRUE(relay->comes_to_say("/status", "\"rows_written\":1000"));
    const auto seen = page_of(*relay, "replay-broken-off", "streaming",
                              "Every row that the slot has sent is in the stream");
    for (const auto& each : {"Replay 1: 1,000 of 1,300 rows written", "walrelay replay show 1",
                             "walrelay replay resume 1", "walrelay replay cancel 1"}) {
        EXPECT_TRUE(has(seen, each)) << each << ": " << seen;
    }
    const auto resumed = run_offer(seen, "replay resume");
    EXPECT_EQ(resumed.exit_code, 0) << resumed.output << resumed.errors;
    has_each_row_once();
}

/// Neither row nor server is in trouble, and the page says so all the same.
TEST_F(PageIncident, TheClockOfTheRelayIsWrong) {
    begin(clock_ahead());
    ASSERT_TRUE(relay->comes_to_say("/status", "\"alert\":\"WalrelayClockOff\""));
    const auto seen = page_of(*relay, "clock-off", "streaming", "behind this machine's");
    expect_offer(seen, "timedatectl");
    has_each_row_once();
}

}  // namespace
}  // namespace walrelay::test
