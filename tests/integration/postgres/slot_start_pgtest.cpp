// What a slot begins with, as the database keeps it: whether it was written by this server.
#include "postgres/tables/slot_start.hpp"

#include "postgres/catalog/own_tables.hpp"
#include "postgres/tables/witness_store.hpp"
#include "postgres_fixture.hpp"

namespace walrelay::test {
namespace {

class SlotStart : public postgres_fixture {
protected:
    SlotStart() {
        auto sql = connect();
        for (const auto table : {postgres::own_table::slot_start, postgres::own_table::witness}) {
            EXPECT_TRUE(run(postgres::create_table(sql, table, {})).has_value());
        }
    }
    /// As a relay of this server, or of another one, has written it; SQL.
    void is_written_by(const std::string& system_identifier) {
        writer_->execute(
            "INSERT INTO walrelay.slot_start (slot, lsn, snapshot, published, "
            "system_identifier) VALUES ('one', '0/10', pg_current_snapshot(), 'none', " +
            system_identifier + ")");
    }
    void witness_is_written_by(const std::string& system_identifier) {
        writer_->execute(
            "INSERT INTO walrelay.witness (slot, version, stream, stream_created, "
            "sequence, position, told, system_identifier, timeline, next_snapshot, "
            "next_lsn) VALUES ('one', 1, 'S', 0, 0, '', '0/10', " +
            system_identifier + ", 1, pg_current_snapshot(), '0/10')");
    }
    bool is_believed() {
        auto sql = connect();
        const auto start = run(postgres::read_slot_start(sql, "one"));
        EXPECT_TRUE(start.has_value()) << to_string(start.error());
        return start && start->has_value();
    }
    /// Writes the slot's first witness as the relay does, and returns its snapshot's LSN.
    std::string first_witness() {
        auto sql = connect();
        walrelay::witness what;
        what.stream = "S";
        what.told = lsn{0x20};
        what.origin = {std::stoull(writer_->value_of(std::string("SELECT ") + here)), 1};
        const auto stored = run(postgres::store_witness(sql, "one", what, {}));
        EXPECT_TRUE(stored.has_value()) << to_string(stored.error());
        return writer_->value_of(
            "SELECT coalesce(snapshot_lsn::text, 'none') FROM walrelay.witness");
    }

    static constexpr const char* here = "(SELECT system_identifier FROM pg_control_system())";
    static constexpr const char* elsewhere = "4711";
};

TEST_F(SlotStart, IsThatOfTheServerThatWroteIt) {
    is_written_by(here);
    EXPECT_TRUE(is_believed());
    EXPECT_EQ(first_witness(), "0/10");
}

TEST_F(SlotStart, OfAnotherServerIsNone) {
    is_written_by(elsewhere);
    EXPECT_FALSE(is_believed());
    EXPECT_EQ(first_witness(), "none") << "its transactions have other numbers";
}

TEST_F(SlotStart, ThatDoesNotSayWhereItWasWrittenIsBelieved) {
    is_written_by("NULL");
    EXPECT_TRUE(is_believed());
}

TEST_F(SlotStart, ThatDoesNotSayWhereItWasWrittenIsWhereTheWitnessIs) {
    is_written_by("NULL");
    witness_is_written_by(elsewhere);
    EXPECT_FALSE(is_believed());
}

TEST(LaterThan, TellsNothingOnceTheNumbersOfTransactionsHaveBegunAgain) {
    constexpr auto numbers = std::uint64_t{1} << 32U;
    EXPECT_NE(postgres::later_than("1000:1005:1002", numbers + 999), "");
    EXPECT_EQ(postgres::later_than("1000:1005:1002", numbers + 1000), "");
    EXPECT_NE(postgres::later_than("4294968296:4294968296:", 2 * numbers), "");
}

TEST_F(SlotStart, NotesTheServer) {
    auto replication = connect(postgres::connection_kind::replication);
    const auto made = run(
        postgres::create_slot_with_snapshot(replication, slot_, output_plugin::pgoutput, false));
    ASSERT_TRUE(made.has_value()) << to_string(made.error());
    auto sql = connect();
    // As 0.2.0 made the table.
    writer_->execute(
        "ALTER TABLE walrelay.slot_start DROP COLUMN published, DROP COLUMN "
        "system_identifier");
    const auto kept = run(postgres::keep_slot_start(sql, *made, "one", "none", {}));
    ASSERT_TRUE(kept.has_value()) << to_string(kept.error());
    EXPECT_EQ(writer_->value_of(std::string("SELECT system_identifier = ") + here +
                                " AND published = 'none' FROM walrelay.slot_start"),
              "t");
    EXPECT_TRUE(is_believed());
}

/// The data of another server were loaded here, where a slot of that name is made.
TEST_F(SlotStart, TakesOverNothingThatWasPublishedElsewhere) {
    is_written_by("NULL");
    writer_->execute("UPDATE walrelay.slot_start SET published = 'all'");
    witness_is_written_by(elsewhere);
    auto replication = connect(postgres::connection_kind::replication);
    const auto made = run(
        postgres::create_slot_with_snapshot(replication, slot_, output_plugin::pgoutput, false));
    ASSERT_TRUE(made.has_value()) << to_string(made.error());
    auto sql = connect();
    const auto kept = run(postgres::keep_slot_start(sql, *made, "one", "none", {}));
    ASSERT_TRUE(kept.has_value()) << to_string(kept.error());
    EXPECT_EQ(writer_->value_of("SELECT published FROM walrelay.slot_start"), "none");
}

}  // namespace
}  // namespace walrelay::test
