// The program with a pgbouncer in front of PostgreSQL, in each of its modes: what works does, and
// what does not ends at once and in words of its own.
#include "integration/e2e/relay_bench.hpp"
#include "support/pgbouncer.hpp"

#include <gmock/gmock.h>

namespace walrelay::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Poolers : public testing::Test {
protected:
    Poolers() {
        bench.create_table();
        direct = bench.conninfo();
    }
    void go_through(const pgbouncer& pool) {
        bench.set_conninfo("host=127.0.0.1 user=postgres dbname=" + bench.database() +
                           " port=" + std::to_string(pool.port()));
    }
    /// By check with its finding, by run with exit code 3; and nothing was made.
    void expect_refused(const std::string& mode, const std::string& said) {
        const pgbouncer pool(shared_postgres().port(), mode);
        go_through(pool);
        const auto checked = bench.command({"check"});
        EXPECT_EQ(checked.exit_code, 1) << checked.output << checked.errors;
        EXPECT_THAT(checked.output, AllOf(HasSubstr("a pooler answers in PostgreSQL's place"),
                                          HasSubstr(said), HasSubstr("connect past the pooler"),
                                          Not(HasSubstr("cannot be reached"))));
        for (const auto* const each : {"run", "init"}) {
            const auto ended = bench.command({each});
            EXPECT_EQ(ended.exit_code, 3) << each << ": " << ended.errors;
            EXPECT_THAT(ended.errors, AllOf(HasSubstr(said), HasSubstr("connect past the pooler")));
        }
        EXPECT_FALSE(bench.broker().state(bench.stream_name()));
        EXPECT_FALSE(bench.slot("plugin"));
        EXPECT_EQ(bench.session().value_of("SELECT to_regclass('walrelay.control') IS NULL"), "t");
    }

    relay_bench bench{shared_postgres(), shared_nats(), "pgoutput"};
    std::string direct;
};

TEST_F(Poolers, ThatLendConnectionsForTransactionsAreRefused) {
    expect_refused("transaction", "lends its connections for single transactions");
}

TEST_F(Poolers, ThatLendConnectionsForStatementsAreRefused) {
    expect_refused("statement", "lends its connections for single statements");
}

TEST_F(Poolers, ThatKeepSessionsServeWhatTakesOnlyQueries) {
    bench.start();
    bench.execute(insert_events(1, 20));
    ASSERT_TRUE(bench.confirms_messages(20));
    bench.stop();
    const pgbouncer pool(shared_postgres().port(), "session");
    go_through(pool);
    const auto verified = bench.command({"verify"});
    EXPECT_EQ(verified.exit_code, 0) << verified.output << verified.errors;
    const auto listed = bench.command({"dead-letter", "list"});
    EXPECT_EQ(listed.exit_code, 0) << listed.output << listed.errors;
}

TEST_F(Poolers, ThatKeepSessionsAndTakeNoReplicationAreNamed) {
    const pgbouncer pool(shared_postgres().port(), "session");
    go_through(pool);
    const auto checked = bench.command({"check"});
    if (checked.exit_code == 0) {
        GTEST_SKIP() << "pgbouncer carries replication from 1.23 on";
    }
    EXPECT_THAT(checked.output,
                AllOf(HasSubstr("no replication connection can be opened"),
                      HasSubstr("takes no replication"), HasSubstr("connect past the pooler")));
    const auto ended = bench.command({"run"});
    EXPECT_EQ(ended.exit_code, 3) << ended.errors;
    EXPECT_THAT(ended.errors, HasSubstr("takes no replication"));
    EXPECT_FALSE(bench.broker().state(bench.stream_name()));
}

}  // namespace
}  // namespace walrelay::test
