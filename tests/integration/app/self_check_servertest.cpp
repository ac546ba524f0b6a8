// What a self-check asks of real servers, and what it spares them.
#include "app/self_check.hpp"
#include "config/load.hpp"
#include "support/eventually.hpp"
#include "support/nats_server.hpp"
#include "support/postgres_server.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace walrelay::app {
namespace {

using findings = std::optional<std::vector<finding>>;

bool has(const findings& found, std::string_view code) {
    return found && std::ranges::any_of(
                        *found, [&](const finding& each) { return each.code.text() == code; });
}

class SelfCheckOfServers : public testing::Test {
protected:
    SelfCheckOfServers() {
        auto session = postgres_.session();
        session.execute(
            "CREATE TABLE outbox_events (id uuid PRIMARY KEY, aggregate_type text NOT NULL, "
            "aggregate_id text NOT NULL, event_type text NOT NULL, event_data jsonb NOT NULL, "
            "created_at timestamptz)");
        const auto loaded =
            config::load({fmt::format("[postgres]\nconninfo = \"{}\"\n[nats]\nurls = [\"{}\"]\n"
                                      "[[outbox]]\ntable = \"public.outbox_events\"\n",
                                      postgres_.conninfo(), nats_.url()),
                          "walrelay.toml",
                          {},
                          {}});
        EXPECT_TRUE(loaded.has_value());
        settings_ = *loaded;
    }

    findings look(const std::string& sign) {
        findings found;
        servers::run_to_end([&](const servers::executors& on) -> boost::asio::awaitable<int> {
            found = co_await check_.look(on, settings_, sign);
            co_return 0;
        });
        return found;
    }

    test::postgres_server postgres_;
    test::nats_server nats_;
    config::settings settings_;
    self_check check_;
};

TEST_F(SelfCheckOfServers, KeepsWhatItKnowsOfAServerThatShowsNoChange) {
    const auto before = look("A");
    ASSERT_TRUE(has(before, "slot_missing")) << "the server was looked at";
    postgres_.session().execute(
        "SELECT pg_create_logical_replication_slot('walrelay', "
        "'pgoutput')");
    EXPECT_TRUE(has(look("A"), "slot_missing")) << "it was asked again";
    EXPECT_FALSE(has(look("B"), "slot_missing"));
}

TEST_F(SelfCheckOfServers, AsksAgainWhereNoSignIsKnown) {
    EXPECT_TRUE(has(look(""), "slot_missing"));
    postgres_.session().execute(
        "SELECT pg_create_logical_replication_slot('walrelay', "
        "'pgoutput')");
    EXPECT_FALSE(has(look(""), "slot_missing"));
}

TEST_F(SelfCheckOfServers, LooksAtTheBrokerEachTime) {
    const auto before = look("A");
    EXPECT_TRUE(has(before, "stream_missing"));
    nats_.stop();
    EXPECT_FALSE(look("A").has_value());
}

TEST_F(SelfCheckOfServers, KeepsNothingOfAServerThatDidNotAnswer) {
    postgres_.stop(test::postgres_stop::fast);
    EXPECT_FALSE(look("A").has_value());
    postgres_.start();
    EXPECT_TRUE(has(look("A"), "slot_missing"));
}

}  // namespace
}  // namespace walrelay::app
