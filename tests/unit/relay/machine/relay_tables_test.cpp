// The relay machine with rows of tables that were made after it connected.

#include "unit/relay/machine/relay_script.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace walrelay::relay {
namespace {

using namespace std::chrono_literals;
using test::relay_script;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::uint32_t outbox_oid = 16384;
constexpr std::uint32_t later_oid = 5;

class RelayTables : public testing::Test {
protected:
    void SetUp() override {
        script.start();
        script.broker_connects(0);
        connect_postgres();
    }
    void connect_postgres() {
        script.postgres_connects();
        script.frame(test::begin_frame(lsn{0x100}));
        script.frame(test::relation_frame(later_oid, "jobs", "later", {"number", "note"}));
    }
    std::vector<std::string> insert_later() {
        return script.frame(test::insert_frame(later_oid, {"1", "x"}, lsn{0x90}));
    }
    [[nodiscard]] std::size_t lines_with(const std::string& words) const {
        const auto& lines = script.log_lines();
        return static_cast<std::size_t>(std::ranges::count_if(
            lines, [&](const auto& line) { return line.find(words) != std::string::npos; }));
    }

    relay_script script;
};

TEST_F(RelayTables, AsksWhatANewTableIsAndGoesOn) {
    EXPECT_THAT(insert_later(), ElementsAre("look_at_table jobs.later"));
    EXPECT_FALSE(script.machine().wants_frames());
    EXPECT_THAT(script.table_is_seen(table_sight{.exists = true}), IsEmpty());
    EXPECT_TRUE(script.machine().wants_frames());
    EXPECT_THAT(insert_later(), IsEmpty()) << "asked once";
    script.frame(test::insert_frame(outbox_oid, {"a", "k", "{}"}, lsn{0x95}));
    script.frame(test::commit_frame(lsn{0x100}, lsn{0x101}));
    script.acks(1);
    EXPECT_EQ(script.machine().confirmed(), lsn{0x101});
}

TEST_F(RelayTables, KeepsThePlacesOfTheRowsAfterIt) {
    // Two changes of one WAL record: the outbox row is the second.
    insert_later();
    script.table_is_seen(table_sight{.exists = true});
    script.frame(test::insert_frame(outbox_oid, {"a", "k", "{}"}, lsn{0x90}));
    EXPECT_EQ(script.machine().the_lane().newest().where.at,
              (commit_position{lsn{0x100}, lsn{0x90}, 1}));
}

TEST_F(RelayTables, SaysOfAFewThatAreGoneThatTheyAreNotRelayed) {
    for (std::uint32_t number = 0; number < 30; ++number) {
        const auto name = "job_" + std::to_string(number);
        script.frame(test::relation_frame(100 + number, "jobs", name, {"note"}));
        EXPECT_THAT(script.frame(test::insert_frame(100 + number, {"x"})),
                    ElementsAre("look_at_table jobs." + name));
        script.table_is_seen(table_sight{});
    }
    EXPECT_EQ(lines_with("jobs.job_0 are not relayed"), 1U);
    EXPECT_EQ(lines_with("are not relayed"), 10U);
}

TEST_F(RelayTables, ReadsTheCatalogAgainForAPartition) {
    insert_later();
    EXPECT_THAT(script.table_is_seen(table_sight{.exists = true, .descends_from_outbox = true}),
                ElementsAre("close_postgres"));
    EXPECT_THAT(script.passes(1s), ElementsAre("connect_postgres"));
}

TEST_F(RelayTables, ReadsTheCatalogAgainWhereAnOutboxIsGone) {
    insert_later();
    EXPECT_THAT(script.table_is_seen(table_sight{.exists = true, .outboxes_exist = false}),
                ElementsAre("close_postgres"));
}

TEST_F(RelayTables, ReadsTheCatalogAgainForATableThatCouldBeAnOutbox) {
    script.frame(test::relation_frame(6, "jobs", "copy", {"id", "kind", "payload"}));
    EXPECT_THAT(script.frame(test::insert_frame(6, {"a", "k", "{}"})),
                ElementsAre("close_postgres"));
}

/// The secret can have been made since the catalog was read.
TEST_F(RelayTables, ReadsTheCatalogAgainOnceForARequestThatItCannotProve) {
    const auto request = [&] {
        script.frame(
            test::relation_frame(7, "walrelay", "control", {"kind", "transaction", "proof"}));
        return script.frame(
            test::insert_frame(7, {"own", test::control_transaction, test::proof_of_control()}));
    };
    script.postgres_fails();
    script.control_secret.clear();
    script.passes(10s);
    connect_postgres();
    EXPECT_THAT(request(), ElementsAre("close_postgres"));
    script.passes(10s);
    connect_postgres();
    EXPECT_THAT(request(), IsEmpty());
    EXPECT_EQ(lines_with("is left alone"), 1U);
}

TEST_F(RelayTables, TellsOnceOfATableThatNobodyKnows) {
    for (int connection = 0; connection < 3; ++connection) {
        script.frame(test::relation_frame(6, "jobs", "copy", {"id", "kind", "payload"}));
        script.frame(test::insert_frame(6, {"a", "k", "{}"}));
        if (connection > 0) {
            script.postgres_fails();
        }
        script.passes(10s);
        connect_postgres();
    }
    EXPECT_EQ(lines_with("jobs.copy are not relayed"), 1U);
}

TEST_F(RelayTables, ConnectsAgainWhereItGetsNoAnswer) {
    insert_later();
    EXPECT_THAT(script.table_is_seen(error{errc::postgres_lost, "gone"}),
                ElementsAre("close_postgres"));
}

TEST_F(RelayTables, LeavesAnAnswerOfAnEarlierConnectionAlone) {
    insert_later();
    script.postgres_fails();
    EXPECT_THAT(script.table_is_seen(table_sight{.exists = true}), IsEmpty());
    script.passes(1s);
    connect_postgres();
    EXPECT_THAT(script.table_is_seen(table_sight{.exists = true}), IsEmpty());
    EXPECT_THAT(insert_later(), ElementsAre("look_at_table jobs.later"));
}

TEST_F(RelayTables, StopsWithoutTheAnswer) {
    script.frame(test::insert_frame(outbox_oid, {"a", "k", "{}"}, lsn{0x80}));
    insert_later();
    script.stops();
    EXPECT_THAT(script.table_is_seen(table_sight{.exists = true}), IsEmpty());
    EXPECT_THAT(script.acks(1), Contains("finish_postgres"));
    EXPECT_THAT(script.postgres_finishes(), Contains("finish 0"));
}

}  // namespace
}  // namespace walrelay::relay
