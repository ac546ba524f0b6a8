#include "postgres/tables/kept_positions.hpp"

#include "postgres/catalog/own_tables.hpp"
#include "postgres_fixture.hpp"

#include <gmock/gmock.h>

namespace walrelay::test {
namespace {

class KeptPositions : public postgres_fixture {
protected:
    KeptPositions() { static_cast<void>(make_slot(output_plugin::pgoutput)); }

    kept_positions read() {
        auto sql = connect();
        auto found = run(postgres::read_kept_positions(sql, slot_));
        EXPECT_TRUE(found.has_value()) << to_string(found.error());
        return found ? *found : kept_positions{};
    }

    void make_tables() {
        auto sql = connect();
        for (const auto each : {postgres::own_table::bookmark, postgres::own_table::trail}) {
            ASSERT_TRUE(run(postgres::create_table(sql, each, {})).has_value());
        }
    }

    void copy_slot(const std::string& to) {
        writer_->execute("SELECT pg_copy_logical_replication_slot(" + as_literal(slot_) + ", " +
                         as_literal(to) + ")");
    }

    void register_slot(const std::string& kept_slot, const std::string& rest) {
        writer_->execute(
            "INSERT INTO walrelay.bookmark (kept_slot, slot, name, comment, expires_at, position) "
            "VALUES (" +
            as_literal(kept_slot) + ", " + rest + ")");
    }

    std::string confirmed_of(const std::string& slot) {
        return writer_->value_of(
            "SELECT confirmed_flush_lsn FROM pg_replication_slots WHERE slot_name = " +
            as_literal(slot));
    }
};

TEST_F(KeptPositions, AreNoneWhereNothingIsKept) {
    const auto found = read();
    EXPECT_TRUE(found.all.empty());
    ASSERT_TRUE(found.source.has_value());
    EXPECT_EQ(found.source->plugin, "pgoutput");
    EXPECT_EQ(to_string(found.source->confirmed), confirmed_of(slot_));
    EXPECT_FALSE(found.is_register_readable);
    EXPECT_GT(found.wal_end.value, 0U);
    EXPECT_GT(found.slots_free, 0);
    EXPECT_EQ(found.wal_limit_bytes, std::nullopt);
    EXPECT_EQ(found.idle_timeout.count(), 0);
}

TEST_F(KeptPositions, AreMadeByHandWithoutARegister) {
    copy_slot(slot_ + "_at_some_name");
    copy_slot(slot_ + "_trail");
    copy_slot(slot_ + "x_trail");
    const auto found = read();
    ASSERT_EQ(found.all.size(), 2U);
    const auto* const one = find_bookmark(found, "some-name");
    ASSERT_NE(one, nullptr);
    EXPECT_FALSE(one->is_ours);
    EXPECT_EQ(one->state, kept_state::kept);
    EXPECT_EQ(one->covers_from, std::nullopt);
    EXPECT_EQ(to_string(*one->confirmed), confirmed_of(slot_));
    ASSERT_NE(find_trail(found), nullptr);
    EXPECT_FALSE(find_trail(found)->is_ours);
}

TEST_F(KeptPositions, AreWhatTheRegisterSays) {
    make_tables();
    copy_slot(slot_ + "_at_a_b");
    register_slot(slot_ + "_at_a_b", as_literal(slot_) + ", 'a-b', 'why', now() + '1 hour', '" +
                                         confirmed_of(slot_) + "'");
    register_slot(slot_ + "_at_gone", as_literal(slot_) + ", 'gone', NULL, NULL, '0/1'");
    const auto found = read();
    EXPECT_TRUE(found.is_register_readable);
    ASSERT_EQ(found.all.size(), 2U);
    EXPECT_EQ(found.all[0].name, "gone");
    EXPECT_EQ(found.all[0].state, kept_state::gone);
    EXPECT_EQ(found.all[0].covers_from, std::nullopt);
    const auto& one = found.all[1];
    EXPECT_TRUE(one.is_ours);
    EXPECT_EQ(one.name, "a-b");
    EXPECT_EQ(one.comment, "why");
    EXPECT_EQ(one.covers_from, one.made_at);
    ASSERT_TRUE(one.expires_at.has_value() && one.made_at.has_value());
    EXPECT_GT(*one.expires_at, found.read_at);
    EXPECT_LE(*one.made_at, found.read_at);
    EXPECT_LT(one.held_bytes, 1ULL << 30U);
}

/// What stands elsewhere is another slot, and walrelay has no right to drop it.
TEST_F(KeptPositions, AreNotTakenForOthersOfTheSameName) {
    make_tables();
    copy_slot(slot_ + "_at_a");
    register_slot(slot_ + "_at_a", as_literal(slot_) + ", 'a', NULL, NULL, '0/1'");
    copy_slot(slot_ + "_at_b_at_c");
    register_slot(slot_ + "_at_b_at_c", as_literal(slot_ + "_at_b") + ", 'c', NULL, NULL, NULL");
    const auto found = read();
    ASSERT_EQ(found.all.size(), 1U);
    EXPECT_EQ(found.all[0].name, "a");
    EXPECT_FALSE(found.all[0].is_ours);
    EXPECT_EQ(found.all[0].made_at_lsn, lsn{1});
}

TEST_F(KeptPositions, CoverTheTimeSinceTheTrailStoodThere) {
    make_tables();
    copy_slot(slot_ + "_trail");
    register_slot(slot_ + "_trail",
                  as_literal(slot_) + ", NULL, NULL, NULL, '" + confirmed_of(slot_) + "'");
    EXPECT_EQ(find_trail(read())->covers_from, std::nullopt);
    writer_->execute("INSERT INTO walrelay.trail (slot, position, seen_at, system) VALUES (" +
                     as_literal(slot_) + ", '" + confirmed_of(slot_) +
                     "', '2026-01-02 03:04:05Z', '1'), (" + as_literal(slot_) +
                     ", '0/1', '2026-01-01 00:00:00Z', '1'), (" + as_literal(slot_) +
                     ", 'FF/0', '2026-01-03 00:00:00Z', '1')");
    const auto found = read();
    ASSERT_TRUE(find_trail(found)->covers_from.has_value());
    EXPECT_EQ(find_trail(found)->covers_from->time_since_epoch(), std::chrono::seconds(1767323045));
}

TEST_F(KeptPositions, KnowWhichReplaysAreUnderWay) {
    make_tables();
    writer_->execute(
        "CREATE TABLE walrelay.replay (id bigint, slot text, state text, kept_slot text, at_lsn "
        "pg_lsn, rows_planned bigint, rows_written bigint, range_from text, since timestamptz)");
    const auto begins = as_literal(to_string(position{{7, 1}, {lsn{5}, lsn{}, 0}}));
    const auto own = as_literal(slot_);
    writer_->execute("INSERT INTO walrelay.replay VALUES (1, " + own +
                     ", 'running', 'k1', '0/A', 90, 40, " + begins + "), (2, " + own +
                     ", 'running', NULL, NULL, 5, 0, ''), (3, " + own +
                     ", 'done', 'k3', NULL, 1, 1, ''), (4, 'other', 'running', 'k4', NULL, 1, 0, "
                     "''), (5, " +
                     own + ", 'running', 'k5', NULL, 1, 0, " + begins + ")");
    writer_->execute("INSERT INTO walrelay.replay VALUES (6, " + own +
                     ", 'running', 'k6', NULL, 1, 0, " + begins + ", now())");
    const auto found = read();
    ASSERT_EQ(found.replays.size(), 4U);
    EXPECT_EQ(found.replays[0].kept_slot, "k1");
    EXPECT_EQ(found.replays[0].at, lsn{10});
    EXPECT_EQ(found.replays[0].number, 1);
    EXPECT_EQ(found.replays[0].rows_planned, 90U);
    EXPECT_EQ(found.replays[0].rows_written, 40U);
    EXPECT_EQ(found.replays[1].kept_slot, "") << "it reads rows of a table";
    EXPECT_EQ(found.replays[1].at, std::nullopt);
    EXPECT_EQ(found.replays[2].at, lsn{5}) << "where it begins";
    EXPECT_EQ(found.replays[3].at, std::nullopt) << "it begins with a time";
}

}  // namespace
}  // namespace walrelay::test
