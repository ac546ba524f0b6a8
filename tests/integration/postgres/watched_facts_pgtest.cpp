#include "postgres/catalog/watched_facts.hpp"

#include "postgres_fixture.hpp"
#include "support/eventually.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace walrelay::test {
namespace {

class WatchedFacts : public postgres_fixture {
protected:
    WatchedFacts() { (void)make_slot(output_plugin::pgoutput); }

    watched_facts read(const std::string& slot) {
        auto sql = connect();
        postgres::watched_objects all{
            {{"public", "events"}, {"public", "gone"}}, publication_, slot};
        const auto seen = run(postgres::read_watched_facts(sql, std::move(all), {}));
        EXPECT_TRUE(seen.has_value()) << to_string(seen.error());
        return seen.value();
    }
    std::string sign() { return read(slot_).change_sign; }
};

TEST_F(WatchedFacts, ComeWithWhatTheSlotTakes) {
    writer_->execute("INSERT INTO events SELECT n, 'body' FROM generate_series(1, 1000) AS n");
    const auto seen = read(slot_);
    ASSERT_TRUE(seen.slot.has_value());
    EXPECT_GT(seen.slot->lag_bytes, 0U);
    EXPECT_GE(seen.slot->retained_bytes, seen.slot->lag_bytes);
    EXPECT_EQ(seen.slot->wal_status, "reserved");
    const auto apart = std::chrono::system_clock::now() - seen.slot->server_time;
    EXPECT_LT(std::chrono::abs(apart), std::chrono::minutes(1));
    ASSERT_EQ(seen.tables.size(), 2U);
    EXPECT_TRUE(seen.tables[0].published);
    EXPECT_EQ(seen.tables[1].oid, 0U);
}

TEST_F(WatchedFacts, AreKnownWhereThereIsNoSlot) {
    const auto seen = read("none");
    EXPECT_FALSE(seen.slot.has_value());
    EXPECT_TRUE(seen.tables[0].published);
}

TEST_F(WatchedFacts, HaveTheSameSignWhileNothingChanges) {
    // The server has work of its own after a start.
    EXPECT_TRUE(eventually(std::chrono::seconds(30), [&] { return sign() == sign(); }));
    EXPECT_NE(sign(), "");
}

TEST_F(WatchedFacts, HaveAnotherSignAfterEachChange) {
    const std::vector<std::string> changes{
        "INSERT INTO events VALUES (1, 'row')",
        "SET synchronous_commit = off; UPDATE events SET body = 'later'",
        "BEGIN; DELETE FROM events; ROLLBACK",
        "CREATE UNLOGGED TABLE beside (n int)",
        "INSERT INTO beside VALUES (1)",
        "ALTER TABLE events ENABLE ROW LEVEL SECURITY",
        "ALTER DATABASE " + as_identifier(database_) + " SET lock_timeout = 1000",
        "SELECT pg_create_physical_replication_slot('other_" + database_ + "')",
        "SELECT pg_drop_replication_slot('other_" + database_ + "')",
    };
    for (const auto& change : changes) {
        const auto before = sign();
        writer_->execute(change);
        EXPECT_NE(sign(), before) << change;
    }
}

TEST_F(WatchedFacts, HaveAnotherSignOnceTheSettingsAreReadAnew) {
    const auto before = sign();
    writer_->execute("SELECT pg_reload_conf()");
    EXPECT_TRUE(eventually(std::chrono::seconds(30), [&] { return sign() != before; }));
}

TEST_F(WatchedFacts, HaveNoSignOnAStandby) {
    use_own_server();
    (void)make_slot(output_plugin::pgoutput);
    server().become_standby();
    EXPECT_EQ(sign(), "");
}

}  // namespace
}  // namespace walrelay::test
