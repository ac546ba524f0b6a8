#include "postgres/catalog/watched_facts.hpp"

#include "postgres_fixture.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

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

}  // namespace
}  // namespace walrelay::test
