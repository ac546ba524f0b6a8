// Transactions of every shape come into the stream once, and in the order of their commits.
#include "integration/e2e/background_writer.hpp"
#include "integration/e2e/relay_bench.hpp"
#include "support/commit_order.hpp"
#include "support/eventually.hpp"

namespace walrelay::test {
namespace {

class Ordering : public e2e_test {
protected:
    void SetUp() override {
        bench.create_table();
        bench.start();
    }
};

TEST_P(Ordering, InterleavedTransactionsComeInCommitOrder) {
    auto early = bench.session();
    auto late = bench.session();
    early.execute("BEGIN; " + insert_event(1));
    late.execute("BEGIN; " + insert_event(2));
    early.execute(insert_event(3));
    late.execute("COMMIT");
    late.execute(insert_event(4));
    early.execute(insert_event(5) + "COMMIT");

    bench.expect_relayed({event_id(2), event_id(4), event_id(1), event_id(3), event_id(5)});
}

TEST_P(Ordering, ManyWritersAtOnceComeInCommitOrder) {
    commit_order order(shared_postgres(), bench.database());
    constexpr std::uint64_t far_apart = 1000000;
    {
        const auto conninfo = shared_postgres().conninfo(bench.database());
        background_writer one(conninfo, far_apart);
        background_writer two(conninfo, 2 * far_apart);
        background_writer three(conninfo, 3 * far_apart);
        constexpr std::uint64_t enough = 300;
        ASSERT_TRUE(eventually(patience, [&] {
            return one.commits() > enough && two.commits() > enough && three.commits() > enough;
        }));
    }

    bench.expect_relayed(order.ids());
}

TEST_P(Ordering, RolledBackTransactionPublishesNothing) {
    bench.execute("BEGIN; " + insert_events(1, 100) + "ROLLBACK");
    bench.execute(insert_event(101));

    bench.expect_relayed({event_id(101)});
}

TEST_P(Ordering, FailedTransactionPublishesNothing) {
    EXPECT_THROW(bench.execute("BEGIN; " + insert_event(1) + "SELECT 1 / 0; COMMIT"),
                 std::runtime_error);
    bench.execute(insert_event(2));

    bench.expect_relayed({event_id(2)});
}

TEST_P(Ordering, RolledBackSavepointPublishesNothing) {
    auto session = bench.session();
    session.execute("BEGIN; " + insert_event(1) + "SAVEPOINT a; " + insert_event(2) +
                    "SAVEPOINT b; " + insert_event(3) + "ROLLBACK TO b; " + insert_event(4) +
                    "RELEASE a; SAVEPOINT c; " + insert_event(5) + "ROLLBACK TO c; " +
                    insert_event(6) + "COMMIT");

    bench.expect_relayed({event_id(1), event_id(2), event_id(4), event_id(6)});
}

TEST_P(Ordering, CopyAndMultiRowInsertKeepTheirOrder) {
    std::string lines;
    for (std::uint64_t number = 1; number <= 3000; ++number) {
        lines += event_id(number) + "\torder-1\torder\tplaced\t{\"n\": " + std::to_string(number) +
                 "}\tpending\t" + std::to_string(number) + "\t2024-05-06 07:08:09+00\n";
    }
    bench.session().copy_in(
        "COPY outbox_events (id, aggregate_id, aggregate_type, event_type, event_data, status,"
        " version, created_at) FROM STDIN",
        lines);
    bench.execute(insert_events(3001, 6000));

    bench.expect_relayed(event_ids(1, 6000));
}

TEST_P(Ordering, PreparedTransactionComesWhenItIsCommitted) {
    postgres_server server({.settings = {"max_prepared_transactions = 5"}});
    relay_bench own(server, shared_nats(), GetParam());
    own.create_table();
    own.start();
    own.execute("BEGIN; " + insert_event(1) + "PREPARE TRANSACTION 'first'");
    own.execute("BEGIN; " + insert_event(2) + "PREPARE TRANSACTION 'given_up'");
    own.execute(insert_event(3));
    own.execute("COMMIT PREPARED 'first'");
    own.execute("ROLLBACK PREPARED 'given_up'");
    own.execute(insert_event(4));

    own.expect_relayed({event_id(3), event_id(1), event_id(4)});
}

TEST_P(Ordering, UpdatesAndDeletesAreNotEvents) {
    bench.execute(insert_events(1, 3));
    bench.execute("UPDATE outbox_events SET status = 'published', published_at = now()");
    bench.execute("DELETE FROM outbox_events WHERE version = 2");
    bench.execute("TRUNCATE outbox_events");
    bench.execute(insert_event(4));

    bench.expect_relayed(event_ids(1, 4));
}

INSTANTIATE_TEST_SUITE_P(, Ordering, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
