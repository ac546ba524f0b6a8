// A warning means that somebody should look: a relay that is well has none, whatever it was
// stopped by, and one whose server restarts has none but those about that.
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

namespace walrelay::test {
namespace {

constexpr const char* with_statuses = R"toml(
[[outbox]]
table = 'public.outbox_events'
subject = '%.{aggregate_type}.{event_type}'
pending = "status = 'pending'"
on_published = "status = 'published', published_at = now()"
on_dead_letter = "status = 'dead_letter'"
)toml";

class Healthy : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override { bench.create_table(); }

    /// Of the present process, or the last one.
    std::vector<std::string> warnings() {
        std::vector<std::string> lines;
        std::istringstream log(bench.relay().log());
        for (std::string line; std::getline(log, line);) {
            if (line.find(" warning ") != std::string::npos ||
                line.find(" error ") != std::string::npos) {
                lines.push_back(line);
            }
        }
        return lines;
    }

    /// The next rows, and that they are in the stream and confirmed.
    void relay_rows(std::uint64_t count) {
        bench.execute(insert_events(next_, next_ + count - 1));
        next_ += count;
        ASSERT_TRUE(bench.wait_for_messages(next_ - 1));
        ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    }

    void lives_and_restarts() {
        bench.start();
        relay_rows(3000);
        bench.stop();
        EXPECT_EQ(warnings(), std::vector<std::string>{});
        bench.start();
        relay_rows(10);
        bench.kill_9();
        EXPECT_EQ(warnings(), std::vector<std::string>{});
        bench.execute(insert_events(next_, next_ + 99));
        next_ += 100;
        bench.start();
        relay_rows(10);
        bench.stop();
        EXPECT_EQ(warnings(), std::vector<std::string>{});
        EXPECT_TRUE(exactly_once_in_order(event_ids(1, next_ - 1), bench.events()));
    }

    /// Each says that a connection is gone, and that it is made again.
    void expect_only_the_outage() {
        const auto lines = warnings();
        EXPECT_FALSE(lines.empty());
        for (const auto& line : lines) {
            EXPECT_NE(line.find("; trying again in "), std::string::npos) << line;
            EXPECT_NE(line.find("nothing is lost"), std::string::npos) << line;
        }
    }

    postgres_server postgres;
    nats_server broker;
    relay_bench bench{postgres, broker, GetParam()};
    std::uint64_t next_ = 1;
};

TEST_P(Healthy, WarnsOfNothingInALifeWithRestarts) {
    lives_and_restarts();
}

TEST_P(Healthy, WarnsOfNothingWithWriteBacks) {
    bench.set_outbox(with_statuses);
    lives_and_restarts();
}

TEST_P(Healthy, WarnsOfNothingBesideOtherWriters) {
    bench.set_nats("sole_writer = false");
    lives_and_restarts();
}

TEST_P(Healthy, DoesNotWarnAgainOfDeadLettersWhenItStarts) {
    bench.start();
    relay_rows(10);
    bench.execute(
        "INSERT INTO outbox_events (id, aggregate_type, aggregate_id, event_type, event_data, "
        "status, version, created_at) SELECT gen_random_uuid(), '', 'a', 'e', '{}', 'pending', n, "
        "now() FROM generate_series(1, 5) AS n");
    relay_rows(10);
    bench.stop();
    // With it, no row would be asked for that was stored or set aside.
    bench.execute("DELETE FROM walrelay.witness");
    bench.start();
    ASSERT_TRUE(eventually(patience, [this] {
        return bench.relay().log().find("all of them are there") != std::string::npos;
    })) << bench.relay().log();
    bench.stop();
    EXPECT_EQ(warnings(), std::vector<std::string>{});
}

TEST_P(Healthy, WarnsOfTheBrokersRestartAlone) {
    bench.start();
    relay_rows(10);
    broker.stop();
    bench.execute(insert_events(next_, next_ + 9));
    next_ += 10;
    broker.start();
    relay_rows(10);
    bench.stop();
    expect_only_the_outage();
}

TEST_P(Healthy, WarnsOfTheDatabasesRestartAlone) {
    bench.start();
    relay_rows(10);
    postgres.stop(postgres_stop::fast);
    postgres.start();
    ASSERT_TRUE(eventually(patience, [this] { return bench.streaming(); }));
    relay_rows(10);
    bench.stop();
    expect_only_the_outage();
}

TEST_P(Healthy, SaysWhatItFindsOnceAndNotAtEveryConnect) {
    postgres.reconfigure("synchronous_standby_names = 'ANY 1 (walrelay, another)'");
    ASSERT_TRUE(eventually(patience, [this] {
        return bench.session().value_of("SHOW synchronous_standby_names") != "";
    }));
    bench.start();
    for (int life = 0; life < 3; ++life) {
        relay_rows(10);
        postgres.stop(postgres_stop::fast);
        postgres.start();
        ASSERT_TRUE(eventually(patience, [this] { return bench.streaming(); }));
    }
    bench.stop();
    const auto lines = warnings();
    EXPECT_EQ(std::ranges::count_if(lines,
                                    [](const std::string& line) {
                                        return line.find("synchronous_standby_names") !=
                                               std::string::npos;
                                    }),
              1)
        << bench.relay().log();
}

/// Also where nobody asks over HTTP.
TEST_P(Healthy, SaysThatItHasCaughtUpAndThatItIsWell) {
    bench.set_outbox(std::string("heartbeat = '1s'\n") + with_statuses);
    bench.start();
    relay_rows(10);
    EXPECT_TRUE(bench.relay().wait_for_log("info    caught up after ", patience));
    EXPECT_TRUE(bench.relay().wait_for_log("info    streaming: ", patience)) << bench.relay().log();
    bench.stop();
    EXPECT_EQ(warnings(), std::vector<std::string>{});
}

INSTANTIATE_TEST_SUITE_P(, Healthy, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
