#include "relay/driver/relay_driver.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace walrelay::relay {
namespace {

using std::chrono::seconds;

/// Writes down what the driver calls; answers nothing by itself.
struct surroundings final : host, broker_side, database_side {
    // The host.
    instant now() override { return {time, wall_time{}}; }
    void wake_at(monotonic_time when) override { wakes.push_back(when); }
    void write(const write_log& line) override { lines.push_back(line.line.text()); }
    void end(const relay::finish& how) override { exit_code = how.exit_code; }

    // The broker's side.
    void connect(const connect_broker& wanted, const known_of_stream& known) override {
        calls.push_back("connect broker " + std::to_string(wanted.epoch));
        stream = known;
        std::exchange(on_connect, [] {})();
    }
    void close() override { calls.emplace_back("close"); }
    result<void> publish(const outgoing& /*what*/) override { return {}; }
    bool is_full() override { return false; }
    void flush() override { ++flushes; }
    void ask_stream() override {}
    void read_message(const relay::read_message& /*wanted*/) override {}
    void mark_stream(relay::mark_stream /*wanted*/, const std::string& /*description*/) override {
        calls.emplace_back("mark");
    }
    void read_stored(relay::read_stored /*wanted*/) override {}

    // PostgreSQL's side.
    void connect(const connect_postgres& wanted, known_before known) override {
        calls.push_back("connect postgres " + std::to_string(wanted.epoch));
        database = std::move(known);
    }
    void finish() override { calls.emplace_back("finish"); }
    void send(const send_status& /*status*/) override { ++statuses; }
    void resume_reading() override { ++resumes; }
    void adopt_slot(const relay::adopt_slot& /*wanted*/) override {}
    void store_witness(relay::store_witness /*wanted*/) override {}
    void store_dead_letters(relay::store_dead_letters /*wanted*/) override {}
    void look_for_rows(relay::look_for_rows /*wanted*/) override {}
    void leave_out(relay::leave_out /*wanted*/) override {}
    void write_back(relay::write_back /*wanted*/) override {}
    void fetch_row(relay::fetch_row /*wanted*/) override {}
    void look_at_table(relay::look_at_table /*wanted*/) override {}
    void find_blocker(const relay::find_blocker& /*wanted*/) override {}
    void ask_replayed(const relay::ask_replayed& /*wanted*/) override {}
    void store_halt(relay::store_halt /*wanted*/) override {}

    monotonic_time time{seconds(1000)};
    std::vector<monotonic_time> wakes;
    std::vector<std::string> lines;
    std::vector<std::string> calls;
    std::optional<int> exit_code;
    known_of_stream stream;
    known_before database;
    std::function<void()> on_connect = [] {};
    int flushes = 0;
    int statuses = 0;
    int resumes = 0;
};

broker_facts empty_stream() {
    broker_facts facts;
    facts.stream.emplace();
    facts.stream->description = "of a test";
    return facts;
}

struct RelayDriver : testing::Test {
    surroundings around;
    relay_driver driver{relay_options{}, {}, 1, around, around, around};
};

TEST_F(RelayDriver, ConnectsToTheBrokerFirst) {
    driver.start();
    EXPECT_EQ(around.calls, std::vector<std::string>{"connect broker 1"});
    EXPECT_TRUE(driver.wants_broker(1));
    EXPECT_FALSE(driver.wants_broker(2));
    EXPECT_FALSE(around.stream.was_there);
}

TEST_F(RelayDriver, TellsPostgresWhatTheStreamSaid) {
    driver.start();
    driver.broker_connected(1, empty_stream());
    ASSERT_EQ(around.calls.back(), "connect postgres 1");
    EXPECT_EQ(around.database.description, "of a test");
    EXPECT_EQ(around.database.last_stored, std::nullopt);
    EXPECT_TRUE(around.database.newest_rows.always);
}

TEST_F(RelayDriver, ConnectsAgainWhenItIsWoken) {
    driver.start();
    driver.broker_failed(1, {errc::broker_unavailable, "refused"});
    ASSERT_FALSE(around.wakes.empty());
    around.time = around.wakes.back();
    driver.time_passed();
    EXPECT_EQ(around.calls.back(), "connect broker 2");
    EXPECT_FALSE(driver.wants_broker(1));
    driver.broker_connected(2, empty_stream());
    driver.broker_failed(2, {errc::broker_lost, "gone"});
    around.time = around.wakes.back();
    driver.time_passed();
    EXPECT_TRUE(around.stream.was_there);
}

TEST_F(RelayDriver, AnAnswerWithinACallIsTakenUpAfterIt) {
    around.on_connect = [this] {
        driver.broker_failed(1, {errc::broker_unavailable, "at once"});
        around.calls.emplace_back("the call returns");
    };
    driver.start();
    // What the failure asks for comes after the call that has reported it.
    EXPECT_EQ(around.calls,
              (std::vector<std::string>{"connect broker 1", "the call returns", "close"}));
}

TEST_F(RelayDriver, ACallThatThrowsLeavesItAbleToGoOn) {
    around.on_connect = [] { throw std::runtime_error("no memory"); };
    EXPECT_THROW(driver.start(), std::runtime_error);
    driver.broker_connected(1, empty_stream());
    EXPECT_EQ(around.calls.back(), "connect postgres 1");
}

TEST_F(RelayDriver, EndsBothConnectionsBeforeItSaysThatItEnds) {
    driver.start();
    driver.broker_connected(1, empty_stream());
    driver.stop();
    EXPECT_EQ(around.exit_code, 0);
    EXPECT_FALSE(driver.wants_postgres(1));
    EXPECT_FALSE(driver.wants_broker(1));
    const auto calls = around.calls.size();
    driver.broker_failed(1, {errc::broker_lost, "too late"});
    driver.time_passed();
    EXPECT_EQ(around.calls.size(), calls);
}

TEST_F(RelayDriver, AsksForTheNewestRowsUntilTheyWereLookedFor) {
    auto facts = empty_stream();
    facts.stream->recent.push_back({"id", wall_time(seconds(5)), 1});
    driver.start();
    driver.broker_connected(1, facts);
    EXPECT_EQ(around.database.last_stored, wall_time(seconds(5)));
    EXPECT_TRUE(around.database.newest_rows.always);
    driver.postgres_connected(1, postgres_session{}, std::nullopt);
    driver.postgres_failed(1, {errc::postgres_lost, "gone"});
    around.time += seconds(60);
    driver.time_passed();
    ASSERT_TRUE(driver.wants_postgres(2));
    EXPECT_TRUE(around.database.newest_rows.always);
    EXPECT_TRUE(around.database.earlier);
}

}  // namespace
}  // namespace walrelay::relay
