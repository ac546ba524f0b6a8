// A primary is lost with rows that its standby never had, and whose ids are given again: sequences
// count on from what the standby knows. The new rows are other ones, however soon they come.
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"
#include "support/temporary_folder.hpp"

#include <gmock/gmock.h>

#include <string>

namespace walrelay::test {
namespace {

using testing::HasSubstr;

class IdsGivenAgain : public testing::TestWithParam<const char*> {
protected:
    IdsGivenAgain() { bench.create_table(); }

    void insert(std::uint64_t first, std::uint64_t last) {
        bench.execute(insert_events(first, last));
    }
    /// The stream has rows 1 to 30; the server that goes on has 1 to 20, and no slot.
    void lose_a_primary() {
        bench.start();
        insert(1, 20);
        ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
        bench.stop();
        postgres.stop(postgres_stop::fast);
        postgres.save_disk(standby.path() / "data");
        postgres.start();
        bench.start();
        insert(21, 30);
        ASSERT_TRUE(bench.wait_for_messages(30)) << bench.relay().log();
        bench.stop();
        postgres.stop(postgres_stop::immediate);
        postgres.restore_disk(standby.path() / "data");
        postgres.begin_timeline(bench.name());
    }
    /// Other rows.
    void insert_again() { bench.execute(insert_events(21, 25, "another")); }
    void make_slot() {
        bench.execute("SELECT pg_create_logical_replication_slot(" + as_literal(bench.name()) +
                      ", " + as_literal(bench.plugin()) + ")");
    }
    std::string letters() {
        const auto is_there = bench.session().value_of(
                                  "SELECT to_regclass('walrelay.dead_letter') IS NOT NULL") == "t";
        return is_there ? bench.session().value_of(
                              "SELECT coalesce(string_agg(message_id, ' ' ORDER BY message_id), "
                              "'') FROM walrelay.dead_letter")
                        : "";
    }
    static std::string new_rows() {
        std::string ids;
        for (std::uint64_t number = 21; number <= 25; ++number) {
            ids += (ids.empty() ? "" : " ") + event_id(number);
        }
        return ids;
    }
    /// The broker still remembers the ids, so that none of the rows can have a message.
    void expect_set_aside() {
        EXPECT_TRUE(eventually(patience, [&] { return letters() == new_rows(); }))
            << letters() << bench.relay().log();
        insert(31, 31);
        EXPECT_TRUE(bench.confirmed_reaches(bench.wal_end())) << bench.relay().log();
        bench.stop();
        const auto verified = bench.command({"verify"});
        EXPECT_THAT(verified.output, HasSubstr("5 rows dead-lettered"));
        EXPECT_THAT(verified.output, Not(HasSubstr("missing ")));
    }

    temporary_folder standby{"standby"};
    postgres_server postgres;
    nats_server nats;
    relay_bench bench{postgres, nats, GetParam()};
};

TEST_P(IdsGivenAgain, AreMissedWhereTheSlotIsMadeAfterTheirRows) {
    lose_a_primary();
    insert_again();
    make_slot();
    const auto halted = bench.command({"run"});
    EXPECT_EQ(halted.exit_code, 3) << halted.errors;
    EXPECT_THAT(halted.errors, HasSubstr("5 rows of the newest"));
    EXPECT_THAT(halted.errors, HasSubstr(event_id(21)));
}

TEST_P(IdsGivenAgain, AreNotStoredBecauseTheBrokerRemembersThem) {
    lose_a_primary();
    make_slot();
    insert_again();
    bench.start();
    expect_set_aside();
}

TEST_P(IdsGivenAgain, AreNotHealedBecauseTheBrokerRemembersThem) {
    lose_a_primary();
    insert_again();
    const auto halted = bench.command({"run"});
    EXPECT_EQ(halted.exit_code, 3) << halted.errors;
    const auto asked = bench.command({"resume", "--heal"});
    EXPECT_EQ(asked.exit_code, 0) << asked.output << asked.errors;
    bench.start();
    expect_set_aside();
}

INSTANTIATE_TEST_SUITE_P(Plugins, IdsGivenAgain, testing::Values("pgoutput", "wal2json"),
                         [](const auto& plugin) { return std::string(plugin.param); });

}  // namespace
}  // namespace walrelay::test
