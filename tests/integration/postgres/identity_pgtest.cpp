// Who a server says it is, and where its history came from: through the promotion of a standby.
#include "core/lineage.hpp"
#include "postgres/catalog/inspector.hpp"
#include "postgres_fixture.hpp"
#include "support/postgres_standby.hpp"

#include <gmock/gmock.h>

namespace walrelay::test {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

class Identity : public postgres_fixture {
protected:
    server_identity identity_of(const postgres_instance& instance,
                                const std::string& role = "postgres") {
        postgres::connect_options wanted;
        wanted.conninfo = instance.conninfo() + " user=" + role;
        wanted.kind = postgres::connection_kind::replication;
        auto replication = run(postgres::connection::open(context_.get_executor(), wanted));
        if (replication.has_error()) {
            throw std::runtime_error(to_string(replication.error()));
        }
        auto found = run(postgres::identify(*replication));
        if (found.has_error()) {
            throw std::runtime_error(to_string(found.error()));
        }
        return *found;
    }

    replay_place replayed_on(const postgres_instance& instance) {
        postgres::connect_options wanted;
        wanted.conninfo = instance.conninfo();
        wanted.kind = postgres::connection_kind::replication;
        auto replication = run(postgres::connection::open(context_.get_executor(), wanted));
        auto found = run(postgres::ask_replayed(*replication));
        if (found.has_error()) {
            throw std::runtime_error(to_string(found.error()));
        }
        return *found;
    }

    static lsn flushed(const postgres_instance& instance) {
        return parse_lsn(instance.session().value_of("SELECT pg_current_wal_flush_lsn()")).value();
    }
};

TEST_F(Identity, AServerThatWasNeverPromotedHasNoAncestors) {
    const auto before = flushed(server());
    const auto found = identity_of(server());
    EXPECT_EQ(found.line.origin.timeline, 1U);
    EXPECT_THAT(found.line.ancestors, IsEmpty());
    EXPECT_GE(found.wal_end, before);
    EXPECT_LE(found.wal_end, flushed(server()));
}

TEST_F(Identity, APromotedStandbyKnowsWhereItsParentEnded) {
    use_own_server();
    server().session().execute("CREATE ROLE relay LOGIN REPLICATION");
    const auto parent = identity_of(server());
    postgres_standby first(server().conninfo(), {.slot = "first"});
    first.catch_up(server());
    EXPECT_EQ(identity_of(first).line, parent.line);
    const auto before = replayed_on(first);
    EXPECT_EQ(before.timeline, 1U);
    EXPECT_GE(before.up_to, parent.wal_end);
    server().stop(postgres_stop::fast);
    first.promote();
    first.session().execute("CREATE TABLE of_the_second_timeline ()");
    const auto after = replayed_on(first);
    EXPECT_EQ(after.timeline, 2U);
    EXPECT_LT(after.up_to, flushed(first));

    const auto promoted = identity_of(first, "relay");
    EXPECT_EQ(promoted.line.origin, (history{parent.line.origin.system_identifier, 2}));
    ASSERT_THAT(promoted.line.ancestors, SizeIs(1));
    EXPECT_EQ(promoted.line.ancestors.front().timeline, 1U);
    EXPECT_GE(promoted.line.ancestors.front().at, parent.wal_end);
    EXPECT_LE(promoted.line.ancestors.front().at, promoted.wal_end);

    postgres_standby second(first.conninfo());
    second.catch_up(first);
    second.promote();
    const auto grandchild = identity_of(second, "relay");
    EXPECT_EQ(grandchild.line.origin.timeline, 3U);
    ASSERT_THAT(grandchild.line.ancestors, SizeIs(2));
    EXPECT_EQ(grandchild.line.ancestors.front(), promoted.line.ancestors.front());
    EXPECT_EQ(grandchild.line.ancestors.back().timeline, 2U);
}

TEST_F(Identity, AMissingHistoryFileIsNoError) {
    use_own_server();
    postgres_standby standby(server().conninfo());
    standby.promote();
    ASSERT_THAT(identity_of(standby).line.ancestors, SizeIs(1));
    // Reads its input, so that the server is not left with a broken pipe.
    standby.session().execute(
        "COPY (SELECT 1) TO PROGRAM 'cat > /dev/null && rm pg_wal/00000002.history'");
    const auto found = identity_of(standby);
    EXPECT_EQ(found.line.origin.timeline, 2U);
    EXPECT_THAT(found.line.ancestors, IsEmpty());
}

}  // namespace
}  // namespace walrelay::test
