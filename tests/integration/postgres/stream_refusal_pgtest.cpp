// What a server says to START_REPLICATION, and what walrelay makes of it.
#include "postgres_fixture.hpp"
#include "support/eventually.hpp"

#include <gmock/gmock.h>

namespace walrelay::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

class StreamRefusal : public postgres_fixture {
protected:
    error refusal(const postgres::start_options& from) {
        auto started = try_stream(from);
        return started.has_error() ? started.error() : error{{}, "started"};
    }
    bool eventually_lists(const std::string& wanted) {
        return eventually(
            10s, [&] { return writer_->value_of("SHOW output_plugin_libraries") == wanted; });
    }
    bool has_plugin_list() {
        return writer_->value_of(
                   "SELECT count(*) FROM pg_settings "
                   "WHERE name = 'output_plugin_libraries'") == "1";
    }
};

TEST_F(StreamRefusal, NamesAMissingSlot) {
    const auto failure = refusal({.slot = "missing", .publication = "p", .add_tables = {}});
    EXPECT_EQ(failure.code, errc::postgres_unsuitable);
    EXPECT_EQ(failure.what, "the slot missing does not exist");
    EXPECT_EQ(failure.remedy, "walrelay init");
}

TEST_F(StreamRefusal, NamesTheConsumerThatHoldsTheSlot) {
    const auto from = make_slot(output_plugin::pgoutput);
    auto first = stream(from);
    const auto pid = writer_->value_of(
        "SELECT active_pid FROM pg_replication_slots WHERE slot_name = " + as_literal(slot_));
    const auto failure = refusal(from);
    EXPECT_EQ(failure.code, errc::slot_in_use);
    EXPECT_THAT(failure.server_said, HasSubstr(pid));
}

TEST_F(StreamRefusal, TellsItsOwnLastConnectionFromAnotherConsumer) {
    auto from = make_slot(output_plugin::pgoutput);
    auto first = stream(from);
    from.earlier_process = first.server_process();
    const auto failure = refusal(from);
    EXPECT_EQ(failure.code, errc::slot_not_released);
    EXPECT_THAT(failure.server_said, HasSubstr(std::to_string(from.earlier_process)));
}

TEST_F(StreamRefusal, NamesASlotOfAnotherDatabase) {
    const auto from = make_slot(output_plugin::pgoutput);
    const auto here = std::exchange(database_, "postgres");
    const auto failure = refusal(from);
    database_ = here;
    EXPECT_EQ(failure.code, errc::postgres_unsuitable);
    EXPECT_EQ(failure.what, "the slot " + slot_ + " belongs to another database than postgres");
}

TEST_F(StreamRefusal, SaysHowToAllowWal2json) {
    use_own_server();
    if (!has_plugin_list()) {
        GTEST_SKIP() << "this server has no output_plugin_libraries";
    }
    const auto from = make_slot(output_plugin::wal2json);
    server().reconfigure("output_plugin_libraries = 'pgoutput, test_decoding'");
    ASSERT_TRUE(eventually_lists("pgoutput, test_decoding"));
    const auto failure = refusal(from);
    EXPECT_EQ(failure.code, errc::postgres_unsuitable);
    EXPECT_THAT(failure.remedy,
                StartsWith("ALTER SYSTEM SET output_plugin_libraries = pgoutput, test_decoding, "
                           "wal2json; SELECT pg_reload_conf();"));
}

TEST_F(StreamRefusal, TheRemedyForWal2jsonHeals) {
    use_own_server();
    if (!has_plugin_list()) {
        GTEST_SKIP() << "this server has no output_plugin_libraries";
    }
    const auto from = make_slot(output_plugin::wal2json);
    server().reconfigure("output_plugin_libraries = 'pgoutput'");
    ASSERT_TRUE(eventually_lists("pgoutput"));
    ASSERT_EQ(refusal(from).code, errc::postgres_unsuitable);
    writer_->execute(
        "ALTER SYSTEM SET output_plugin_libraries = pgoutput, test_decoding, wal2json");
    writer_->execute("SELECT pg_reload_conf()");
    ASSERT_TRUE(eventually_lists("pgoutput, test_decoding, wal2json"));
    EXPECT_EQ(refusal(from).what, "started");
}

TEST_F(StreamRefusal, NamesAnInvalidatedSlotAndWhatMakesItAgain) {
    use_own_server({.settings = {"max_slot_wal_keep_size = 1MB", "min_wal_size = 32MB",
                                 "max_wal_size = 32MB"}});
    const auto from = make_slot(output_plugin::pgoutput);
    for (int round = 0; round < 3; ++round) {
        writer_->execute(
            "INSERT INTO events SELECT g, repeat('x', 900) FROM "
            "generate_series(1, 20000) AS g; SELECT pg_switch_wal()");
    }
    writer_->execute("CHECKPOINT");
    ASSERT_EQ(writer_->value_of("SELECT wal_status FROM pg_replication_slots"), "lost");
    const auto failure = refusal(from);
    EXPECT_EQ(failure.code, errc::postgres_unsuitable);
    EXPECT_THAT(failure.what, HasSubstr("is invalidated"));
    EXPECT_THAT(failure.remedy, HasSubstr("walrelay resume --heal"));
}

TEST_F(StreamRefusal, SaysThatWalLevelIsTooLow) {
    use_own_server({.settings = {"wal_level = replica"}});
    writer_->execute("SELECT pg_create_physical_replication_slot(" + as_literal(slot_) + ")");
    const auto failure = refusal({.slot = slot_, .publication = "p", .add_tables = {}});
    EXPECT_EQ(failure.code, errc::postgres_unsuitable);
    EXPECT_FALSE(failure.remedy.empty());
}

TEST_F(StreamRefusal, RefusesAConnectionThatIsClosed) {
    auto opened = connect(postgres::connection_kind::replication);
    opened.close();
    auto started = run(postgres::replication_stream::start(std::move(opened), {.slot = slot_}));
    ASSERT_TRUE(started.has_error());
    EXPECT_EQ(started.error().code, errc::postgres_lost);
}

}  // namespace
}  // namespace walrelay::test
