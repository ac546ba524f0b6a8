// The dashboard in a real browser: Debian's Chromium, driven by tests/browser/watch_dashboard.py.
#include "integration/e2e/answering_relay.hpp"

#include <gtest/gtest.h>

namespace walrelay::test {
namespace {

using namespace std::chrono_literals;

/// It must be shown as it is. A browser that takes it for markup sets `foreign`.
const std::string foreign_id = "<img src=x onerror=foreign=1><script>foreign=1</script>";

TEST(Dashboard, TellsInABrowserWhatHappens) {
    nats_server broker;
    relay_bench bench(shared_postgres(), broker, "pgoutput");
    bench.create_table();
    bench.execute("CREATE TABLE letters (id text PRIMARY KEY, aggregate_id text, payload text)");
    bench.set_delivery("max_row_bytes = '64KiB'");
    bench.set_outbox(
        "[[outbox]]\ntable = 'outbox_events'\nsubject = '%.{aggregate_type}.{event_type}'\n"
        "[[outbox]]\ntable = 'letters'\nsubject = '%.letters'\nbody = 'payload'\n");
    const answering_relay relay(bench, "relay");
    ASSERT_TRUE(relay.is("streaming", true, true));
    bench.execute("INSERT INTO letters VALUES (" + as_literal(foreign_id) +
                  ", 'a', repeat('x', 100000))");
    bench.execute(insert_events(1, 100));
    ASSERT_TRUE(bench.confirms_messages(100));

    const auto kept = bench.command({"bookmark", "create", "before-migration", "--expires", "48h"});
    ASSERT_EQ(kept.exit_code, 0) << kept.output << kept.errors;

    temporary_folder folder("browser");
    child_process browser(
        {.program = WALRELAY_BROWSER_TEST,
         .arguments = {"--url", "http://127.0.0.1:" + std::to_string(relay.port()) + "/",
                       "--broker-pid", std::to_string(broker.pid()), "--foreign", foreign_id,
                       "--screenshots", WALRELAY_SCREENSHOTS},
         .environment = {{"HOME", folder.path().string()}},
         .folder = folder.path(),
         .name = "browser"});
    auto writer = bench.session();
    std::uint64_t next = 101;
    ASSERT_TRUE(eventually(180s,
                           [&] {
                               writer.execute(insert_event(next++));
                               return !browser.running();
                           }))
        << browser.standard_output() << browser.standard_error();
    EXPECT_EQ(browser.wait_exit(patience), 0)
        << browser.standard_output() << browser.standard_error();
    RecordProperty("browser", browser.standard_output());
}

}  // namespace
}  // namespace walrelay::test
