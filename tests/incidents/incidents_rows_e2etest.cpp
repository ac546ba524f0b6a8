// Nights of single rows, and of those who come after them.
#include "incidents/incident.hpp"

#include <algorithm>
#include <regex>

namespace walrelay::test {
namespace {

class RowIncident : public incident {
protected:
    /// What `/metrics` says of open letters, of all reasons: 0 before they are counted.
    int open_letters() const {
        const auto metrics = relay->get("/metrics").body;
        const std::regex count("\nwalrelay_dead_letters\\{[^ ]* ([0-9]+)");
        int letters = 0;
        for (std::sregex_iterator at(metrics.begin(), metrics.end(), count), end; at != end; ++at) {
            letters += std::stoi((*at)[1].str());
        }
        return letters;
    }

    /// With what the list of the open ones offers: a retry that comes before the relay has learnt
    /// that the cause is gone fails as the row did, and is offered again. None is offered where all
    /// are on their way.
    void is_sent_again() {
        int retries = 0;
        ASSERT_TRUE(eventually(patience, [&] {
            const auto listed = bench.command({"dead-letter", "list", "--open"});
            if (!has(listed.output, "no open dead letters")) {
                const auto retried = run_offer(listed.errors, "dead-letter retry");
                EXPECT_EQ(retried.exit_code, 0) << retried.output << retried.errors;
                ++retries;
            }
            return stored_ids().size() >= bench.committed_ids().size();
        })) << relay->process().log();
        EXPECT_GE(retries, 1);
    }
};

TEST_F(RowIncident, ARowIsSetAside) {
    bench.set_delivery("max_row_bytes = '64KiB'");
    begin();
    bench.execute(
        "INSERT INTO outbox_events (id, aggregate_id, aggregate_type, event_type, event_data,"
        " status, version, created_at) VALUES (gen_random_uuid(), 'a', 'order', 'placed',"
        " jsonb_build_object('x', repeat('x', 100000)), 'pending', 1, now())");
    strikes();
    ASSERT_TRUE(eventually(patience, [&] { return open_letters() == 1; }));
    tells({"streaming",
           true,
           true,
           "set aside",
           {"WalrelayDeadLetters"},
           "1 of rows that no message can be made of",
           "\"row\":1,\"broker\":0,"},
          heard::by_asking);
    large_rows_are_let_through();
    has_each_row_once();
}

TEST_F(RowIncident, NobodyCanCleanUp) {
    bench.set_outbox(
        "[[outbox]]\ntable = 'outbox_events'\nsubject = '%.{aggregate_type}'\n"
        "delete_after = '5s'\n");
    relay.emplace(bench, "relay");
    ASSERT_TRUE(relay->is("streaming", true, true));
    bench.execute(insert_events(1, 100));
    ASSERT_TRUE(bench.wait_for_messages(100));
    // The clean-up has begun, which the lock would keep it from.
    ASSERT_TRUE(eventually(patience, [&] { return bench.committed_ids().empty(); }));
    auto locker = bench.session();
    // Once more, where they were deleted before the table was locked.
    std::uint64_t last = 100;
    ASSERT_TRUE(eventually(patience, [&] {
        locker.execute(insert_events(last + 1, last + 3));
        last += 3;
        locker.execute("BEGIN; LOCK TABLE outbox_events IN ACCESS EXCLUSIVE MODE");
        const bool is_there = locker.value_of("SELECT count(*) FROM outbox_events") != "0";
        if (!is_there) {
            locker.execute("COMMIT");
        }
        return is_there;
    }));
    strikes();
    ASSERT_TRUE(eventually(patience, [&] {
        const auto text = relay->get("/metrics").body;
        return std::regex_search(text, std::regex("\nwalrelay_cleanup_lag_seconds[^ ]* [1-9]"));
    }));
    tells({"streaming",
           true,
           true,
           "clean-up of public.outbox_events waits",
           {"WalrelayCleanupBehind"},
           "last trouble",
           "\"last_trouble\":{"},
          heard::by_asking);
    locker.execute("COMMIT");
    ASSERT_TRUE(bench.wait_for_messages(last));
    // Their rows are deleted, one after the other.
    auto stored = stored_ids();
    std::ranges::sort(stored);
    auto written = event_ids(1, last);
    std::ranges::sort(written);
    EXPECT_EQ(stored, written);
    ASSERT_TRUE(eventually(patience, [&] { return bench.committed_ids().empty(); }));
}

TEST_F(RowIncident, APoisonStorm) {
    begin();
    ASSERT_TRUE(bench.wait_until_marked());
    bench.broker().limit_size(bench.stream_name(), 2000);
    strikes();
    bench.execute(
        "INSERT INTO outbox_events (id, aggregate_id, aggregate_type, event_type, event_data,"
        " status, version, created_at) SELECT gen_random_uuid(), 'a', 'order', 'placed',"
        " jsonb_build_object('x', repeat('x', 10000)), 'pending', 100 + n, now()"
        " FROM generate_series(1, 200) AS n");
    bench.execute(insert_events(301, 310));
    ASSERT_TRUE(bench.wait_for_messages(110)) << "rows after them wait for none";
    ASSERT_TRUE(eventually(patience, [&] { return open_letters() == 200; }));
    tells({"streaming",
           true,
           true,
           "set aside",
           {"WalrelayDeadLetters"},
           "(open ones)",
           "\"row\":199,\"broker\":1,"},
          heard::by_asking);
    // The cause, and then all of them.
    bench.broker().limit_size(bench.stream_name(), -1);
    strikes();
    is_sent_again();
    ASSERT_TRUE(bench.wait_for_messages(310));
    has_each_row_once();
    ASSERT_TRUE(eventually(patience, [&] {
        return has(relay->get("/status").body, "\"facts\":{\"row\":0,\"broker\":0");
    }));
    expect_alerts({}, "streaming");
}

}  // namespace
}  // namespace walrelay::test
