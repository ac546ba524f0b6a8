#include "postgres/tables/kept_slots.hpp"

#include "postgres/tables/kept_positions.hpp"
#include "postgres/tables/trail_marks.hpp"
#include "postgres_fixture.hpp"
#include "support/eventually.hpp"

#include <gmock/gmock.h>

namespace walrelay::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

class KeptSlots : public postgres_fixture, public testing::WithParamInterface<output_plugin> {
protected:
    void SetUp() override { prepare(); }

    void prepare() {
        static_cast<void>(make_slot(GetParam()));
        auto sql = connect();
        ASSERT_TRUE(run(postgres::make_kept_tables(sql, {})).has_value());
    }

    [[nodiscard]] postgres::kept_slot_wish wish(const std::string& name) const {
        return {slot_, bookmark_slot_name(slot_, name), name, "why", 1h};
    }
    [[nodiscard]] postgres::kept_slot_wish trail_wish() const {
        return {slot_, trail_slot_name(slot_)};
    }
    kept_positions read() {
        auto sql = connect();
        return run(postgres::read_kept_positions(sql, slot_)).value();
    }
    lsn make(postgres::kept_slot_wish wanted) {
        auto sql = connect();
        const auto made = run(postgres::make_kept_slot(sql, std::move(wanted)));
        EXPECT_TRUE(made.has_value()) << to_string(made.error());
        return made ? *made : lsn{};
    }
    void drop(const std::string& slot) {
        auto sql = connect();
        const auto dropped = run(postgres::drop_kept_slot(sql, slot, slot_));
        EXPECT_TRUE(dropped.has_value()) << to_string(dropped.error());
    }
    lsn wal_end() {
        writer_->execute("INSERT INTO public.events VALUES (1, 'a')");
        return *parse_lsn(writer_->value_of("SELECT pg_current_wal_lsn()"));
    }
    std::string slots_there() {
        return writer_->value_of("SELECT count(*) FROM pg_replication_slots WHERE slot_name <> " +
                                 as_literal(slot_) + " AND database = current_database()");
    }
    std::string rows_there() { return writer_->value_of("SELECT count(*) FROM walrelay.bookmark"); }
    std::string plugin() const { return to_string(GetParam()); }
};

TEST_P(KeptSlots, AreCopiesOfTheRelaysSlot) {
    const auto at = make(wish("a-b"));
    const auto found = read();
    ASSERT_EQ(found.all.size(), 1U);
    const auto& one = found.all[0];
    EXPECT_EQ(one.name, "a-b");
    EXPECT_TRUE(one.is_ours);
    EXPECT_EQ(one.plugin, plugin());
    EXPECT_EQ(one.confirmed, at);
    EXPECT_EQ(one.confirmed, found.source->confirmed);
    EXPECT_EQ(one.comment, "why");
    ASSERT_TRUE(one.covers_from && one.expires_at);
    EXPECT_GT(*one.expires_at, *one.made_at + 59min);
    EXPECT_LT(*one.expires_at, *one.made_at + 61min);
}

TEST_P(KeptSlots, AreMadeWhileTheRelayStreams) {
    const auto streaming = stream(
        {.slot = slot_, .plugin = GetParam(), .publication = publication_, .add_tables = {}});
    EXPECT_GT(make(wish("a")).value, 0U);
    EXPECT_EQ(read().all.size(), 1U);
}

TEST_P(KeptSlots, TakeNoNameTwice) {
    make(wish("a-b"));
    auto sql = connect();
    auto refused = run(postgres::make_kept_slot(sql, wish("a_b")));
    ASSERT_TRUE(refused.has_error());
    EXPECT_EQ(refused.error().code, errc::configuration_invalid);
    writer_->execute("SELECT pg_drop_replication_slot(" + as_literal(slot_ + "_at_a_b") + ")");
    refused = run(postgres::make_kept_slot(sql, wish("a-b")));
    ASSERT_TRUE(refused.has_error());
    EXPECT_THAT(refused.error().what, HasSubstr("there is a bookmark a-b already"));
    EXPECT_EQ(slots_there(), "0");
}

TEST_P(KeptSlots, LeaveNothingWhereTheyCannotBeMade) {
    auto sql = connect();
    auto wanted = wish("a");
    wanted.slot = "there_is_none";
    const auto refused = run(postgres::make_kept_slot(sql, std::move(wanted)));
    ASSERT_TRUE(refused.has_error());
    EXPECT_EQ(rows_there(), "0");
    EXPECT_EQ(slots_there(), "0");
}

TEST_P(KeptSlots, AreDroppedWithTheirRowsAndTwiceWithoutHarm) {
    make(wish("a"));
    drop(slot_ + "_at_a");
    EXPECT_EQ(rows_there(), "0");
    EXPECT_EQ(slots_there(), "0");
    drop(slot_ + "_at_a");
}

TEST_P(KeptSlots, AreNotDroppedWhileTheyAreRead) {
    make(wish("a"));
    {
        const auto reading = stream({.slot = slot_ + "_at_a",
                                     .plugin = GetParam(),
                                     .publication = publication_,
                                     .add_tables = {}});
        auto sql = connect();
        const auto refused = run(postgres::drop_kept_slot(sql, slot_ + "_at_a", slot_));
        ASSERT_TRUE(refused.has_error());
        EXPECT_EQ(refused.error().code, errc::slot_in_use);
        EXPECT_EQ(rows_there(), "1");
    }
    EXPECT_TRUE(eventually(30s, [&] {
        auto sql = connect();
        return run(postgres::drop_kept_slot(sql, slot_ + "_at_a", slot_)).has_value();
    }));
}

TEST_P(KeptSlots, MoveForwardAlone) {
    const auto from = make(trail_wish());
    const auto to = wal_end();
    auto sql = connect();
    ASSERT_TRUE(run(postgres::move_kept_slot(sql, trail_slot_name(slot_), to)).has_value());
    EXPECT_GE(find_trail(read())->confirmed, to);
    EXPECT_EQ(read().source->confirmed, from) << "the relay's slot stays";
    const auto refused = run(postgres::move_kept_slot(sql, trail_slot_name(slot_), from));
    EXPECT_TRUE(refused.has_error());
    EXPECT_GE(find_trail(read())->confirmed, to);
}

TEST_P(KeptSlots, LetTheWalGoThatTheyAreMovedPast) {
    make(trail_wish());
    const auto held = [&] { return find_trail(read())->held_bytes; };
    writer_->execute(
        "INSERT INTO public.events SELECT n, repeat('a', 1000) FROM "
        "generate_series(1, 2000) AS n");
    writer_->execute("CHECKPOINT");
    const auto before = held();
    EXPECT_GT(before, 2'000'000U);
    const auto to = wal_end();
    auto sql = connect();
    // The second time PostgreSQL learns what it need not keep, see keep_plan::touch_trail.
    for (int time = 0; time < 2; ++time) {
        ASSERT_TRUE(run(postgres::move_kept_slot(sql, trail_slot_name(slot_), to)).has_value());
    }
    EXPECT_LT(held(), before / 4);
}

TEST_P(KeptSlots, MakeATrailAgainWhoseSlotIsGone) {
    make(trail_wish());
    writer_->execute("SELECT pg_drop_replication_slot(" + as_literal(trail_slot_name(slot_)) + ")");
    EXPECT_EQ(find_trail(read())->state, kept_state::gone);
    make(trail_wish());
    EXPECT_EQ(find_trail(read())->state, kept_state::kept);
    EXPECT_TRUE(find_trail(read())->is_ours);
    EXPECT_EQ(rows_there(), "1");
}

TEST_P(KeptSlots, AreLookedAfterByWhoHoldsTheSlot) {
    auto sql = connect();
    EXPECT_EQ(run(postgres::require_holder(sql, slot_, 4711)).error().code, errc::slot_in_use)
        << "nobody does";
}

/// Whoever may write into walrelay.bookmark has no slot dropped that walrelay did not make.
TEST_P(KeptSlots, OfAnotherNameAreLeftAlone) {
    make(trail_wish());
    const auto victim = slot_ + "_victim";
    writer_->execute(
        "SELECT pg_create_logical_replication_slot(" + as_literal(victim) + ", '" + plugin() +
        "'); INSERT INTO walrelay.bookmark (kept_slot, slot, name, "
        "expires_at) VALUES (" +
        as_literal(victim) + ", " + as_literal(slot_) + ", 'x', now() - interval '1 hour')");
    for (const auto& each : read().all) {
        EXPECT_NE(each.slot, victim);
    }
    auto sql = connect();
    ASSERT_TRUE(run(postgres::drop_kept_slot(sql, victim, slot_)).has_value());
    EXPECT_EQ(writer_->value_of("SELECT count(*) FROM pg_replication_slots WHERE slot_name = " +
                                as_literal(victim)),
              "1");
    writer_->execute("SELECT pg_drop_replication_slot(" + as_literal(victim) + ")");
}

TEST_P(KeptSlots, AreLostOncePostgresqlHasRemovedTheirWal) {
    use_own_server({.settings = {"max_slot_wal_keep_size = 1MB", "min_wal_size = 32MB"}});
    prepare();
    make(wish("a"));
    EXPECT_EQ(read().wal_limit_bytes, 1U << 20U);
    for (int segment = 0; segment < 4; ++segment) {
        writer_->execute("INSERT INTO public.events VALUES (1, 'a')");
        writer_->execute("SELECT pg_switch_wal()");
    }
    auto sql = connect();
    ASSERT_TRUE(run(postgres::move_kept_slot(sql, slot_, wal_end())).has_value());
    writer_->execute("CHECKPOINT");
    const auto found = read();
    ASSERT_EQ(found.all.size(), 1U);
    EXPECT_EQ(found.all[0].state, kept_state::lost);
    EXPECT_TRUE(found.all[0].is_ours);
    EXPECT_EQ(found.all[0].held_bytes, 0U);
    drop(slot_ + "_at_a");
    EXPECT_TRUE(read().all.empty());
}

TEST_P(KeptSlots, NeedNoMoreThanTheGrantsThatAreNamed) {
    const auto role = "keeper_of_" + database_;
    writer_->execute("CREATE ROLE " + role + " LOGIN REPLICATION");
    auto wanted = options(postgres::connection_kind::sql);
    wanted.conninfo += " user=" + role;
    auto sql = std::move(*run(postgres::connection::open(context_.get_executor(), wanted)));
    auto refused = run(postgres::make_kept_slot(sql, wish("a")));
    ASSERT_TRUE(refused.has_error());
    writer_->execute(refused.error().remedy);
    EXPECT_TRUE(run(postgres::make_kept_slot(sql, wish("a"))).has_value());
    EXPECT_TRUE(run(postgres::drop_kept_slot(sql, slot_ + "_at_a", slot_)).has_value());
    EXPECT_EQ(slots_there(), "0");
}

TEST_P(KeptSlots, KnowWhenTheSlotStoodWhere) {
    auto sql = connect();
    const postgres::trail_owner owner{slot_, "7"};
    const auto positions = [&] {
        std::vector<std::uint64_t> found;
        const auto marks = run(postgres::read_trail_marks(sql, owner));
        EXPECT_TRUE(marks.has_value());
        for (const auto& [position, time] : *marks) {
            found.push_back(position.value);
        }
        return found;
    };
    const auto first = run(postgres::add_trail_mark(sql, owner, lsn{20})).value();
    ASSERT_TRUE(run(postgres::add_trail_mark(sql, owner, lsn{10})).has_value());
    EXPECT_EQ(run(postgres::add_trail_mark(sql, owner, lsn{20})).value(), first)
        << "the older one says more";
    ASSERT_TRUE(run(postgres::add_trail_mark(sql, {slot_ + "x", "7"}, lsn{15})).has_value());
    ASSERT_TRUE(run(postgres::add_trail_mark(sql, {slot_, "8"}, lsn{30})).has_value());
    EXPECT_THAT(positions(), ElementsAre(10, 20)) << "those of another system mean nothing";
    ASSERT_TRUE(run(postgres::forget_trail_marks(sql, slot_, lsn{20})).has_value());
    EXPECT_THAT(positions(), ElementsAre(20));
    EXPECT_EQ(writer_->value_of("SELECT count(*) FROM walrelay.trail"), "2");
}

INSTANTIATE_TEST_SUITE_P(Plugins, KeptSlots,
                         testing::Values(output_plugin::pgoutput, output_plugin::wal2json),
                         [](const auto& each) { return std::string(to_string(each.param)); });

}  // namespace
}  // namespace walrelay::test
