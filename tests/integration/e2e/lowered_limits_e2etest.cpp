// The broker takes smaller messages than before, also while such as were small enough are in
// memory: they become dead letters at once, or halt the relay, as on_poison says.
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"

#include <gmock/gmock.h>

#include <csignal>
#include <fstream>
#include <sstream>

namespace walrelay::test {
namespace {

using testing::HasSubstr;

struct setting {
    const char* plugin;
    bool sole_writer;
};

class LoweredLimits : public testing::TestWithParam<setting> {
protected:
    LoweredLimits() {
        std::ifstream conf(nats.folder() / "nats.conf");
        std::stringstream all;
        all << conf.rdbuf();
        settings_ = all.str();
        bench.create_table();
        bench.set_conninfo(bench.conninfo() + " options=-cwal_sender_timeout=1s");
        bench.set_nats(std::string("sole_writer = ") + (GetParam().sole_writer ? "true" : "false"));
        // With walrelay.dead_letter.
        EXPECT_EQ(bench.command({"init"}).exit_code, 0);
    }
    void lower_limit() const {
        std::ofstream(nats.folder() / "nats.conf", std::ios::trunc)
            << settings_ << "max_payload: 2000\n";
    }
    void reload() const {
        lower_limit();
        kill(nats.pid(), SIGHUP);
        ASSERT_TRUE(eventually(patience, [&] {
            return nats.log().find("Reloaded: max_payload = 2000") != std::string::npos;
        })) << nats.log();
    }
    /// A row whose message fits into 1 MB, and not into 2,000 bytes.
    static std::string insert_large(std::uint64_t number, std::size_t bytes) {
        return "INSERT INTO outbox_events (id, aggregate_id, aggregate_type, event_type, "
               "event_data, status, version, created_at) VALUES ('" +
               event_id(number) + "', 'a', 'order', 'placed', to_jsonb(repeat('x', " +
               std::to_string(bytes) + ")), 'pending', " + std::to_string(number) + ", now())";
    }
    /// Three; the second one has so many bytes.
    void insert_rows(std::size_t bytes) const {
        bench.execute(insert_event(1));
        bench.execute(insert_large(2, bytes));
        bench.execute(insert_event(3));
    }
    /// Until the relay has read all that was written.
    void wait_until_read() {
        const auto end = bench.wal_end();
        ASSERT_TRUE(eventually(patience, [&] {
            return bench.session().value_of(
                       "SELECT count(*) FROM pg_stat_replication WHERE write_lsn >= " +
                       as_literal(end) + "::pg_lsn AND application_name = 'walrelay'") != "0";
        }));
    }
    [[nodiscard]] std::string letters() const {
        return bench.session().value_of(
            "SELECT coalesce(string_agg(message_id || ' ' || reason, '|'), '') FROM "
            "walrelay.dead_letter");
    }
    /// Row 2 is set aside by the relay that met it; the others are in the stream.
    void expect_set_aside() {
        ASSERT_TRUE(bench.wait_for_messages(2)) << bench.relay().log();
        EXPECT_TRUE(eventually(patience, [&] { return !letters().empty(); }));
        EXPECT_THAT(letters(), HasSubstr(event_id(2)));
        EXPECT_THAT(letters(), HasSubstr("max_payload"));
        EXPECT_TRUE(bench.confirmed_reaches(bench.wal_end())) << bench.relay().log();
        bench.stop();
        EXPECT_TRUE(exactly_once_in_order({event_id(1), event_id(3)}, bench.events()));
    }

    static constexpr std::size_t kept_bytes = 3000;
    static constexpr std::size_t too_many_to_be_kept = 100'000;

    nats_server nats;
    postgres_server postgres;
    relay_bench bench{postgres, nats, GetParam().plugin};

private:
    std::string settings_;
};

// A limit that the server tells of while the connection stands: tests/integration/nats, as no
// server does that here but one that is about to stop.

TEST_P(LoweredLimits, AtARestartMakeADeadLetter) {
    bench.start();
    nats.stop();
    lower_limit();
    insert_rows(too_many_to_be_kept);
    wait_until_read();
    nats.start();
    expect_set_aside();
}

TEST_P(LoweredLimits, AtAReloadMakeADeadLetter) {
    bench.start();
    reload();
    insert_rows(too_many_to_be_kept);
    expect_set_aside();
}

TEST_P(LoweredLimits, HaltBeforeTheRowWhereItIsNotToBeSetAside) {
    bench.set_delivery("on_poison = 'halt'\n");
    bench.start();
    nats.stop();
    lower_limit();
    insert_rows(kept_bytes);
    wait_until_read();
    nats.start();
    EXPECT_EQ(bench.relay().process().wait_exit(patience), 3);
    EXPECT_THAT(bench.relay().log(), HasSubstr(event_id(2)));
    bench.launch();
    EXPECT_EQ(bench.relay().process().wait_exit(patience), 3) << "it halts there again";
    EXPECT_TRUE(exactly_once_in_order({event_id(1)}, bench.events()));
}

INSTANTIATE_TEST_SUITE_P(, LoweredLimits,
                         testing::Values(setting{"wal2json", true}, setting{"pgoutput", true},
                                         setting{"pgoutput", false}),
                         [](const testing::TestParamInfo<setting>& of) {
                             return std::string(of.param.plugin) +
                                    (of.param.sole_writer ? "" : "_beside_others");
                         });

}  // namespace
}  // namespace walrelay::test
