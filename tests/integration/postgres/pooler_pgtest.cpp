// Connections through pgbouncer: which of them keep what a session sets.
#include "postgres_fixture.hpp"
#include "support/pgbouncer.hpp"

#include <gmock/gmock.h>

#include <optional>

namespace walrelay::test {
namespace {

using namespace std::chrono_literals;
using postgres::connection;
using postgres::connection_kind;
using testing::HasSubstr;

class Pooler : public postgres_fixture {
protected:
    void pool(const std::string& mode, int size = 5) { pool_.emplace(server().port(), mode, size); }
    [[nodiscard]] result<connection> open(connection_kind kind) {
        return run(
            connection::open(context_.get_executor(),
                             {.conninfo = "host=127.0.0.1 user=postgres dbname=" + database_ +
                                          " port=" + std::to_string(pool_->port()),
                              .kind = kind,
                              .timeout = 10s}));
    }
    [[nodiscard]] std::string refusal(connection_kind kind) {
        const auto opened = open(kind);
        return opened ? "connected" : to_string(opened.error());
    }

private:
    std::optional<pgbouncer> pool_;
};

TEST_F(Pooler, ThatKeepsSessionsIsFineForQueries) {
    pool("session");
    auto opened = open(connection_kind::sql);
    ASSERT_TRUE(opened) << to_string(opened.error());
    const auto shown = run(opened->query("SHOW bytea_output"));
    ASSERT_TRUE(shown) << to_string(shown.error());
    EXPECT_EQ(shown->text(0, 0), "hex");
    const auto path = run(opened->query("SHOW search_path"));
    EXPECT_EQ(path->text(0, 0), "pg_catalog");
}

TEST_F(Pooler, ThatLendsConnectionsForTransactionsIsRefused) {
    pool("transaction");
    for (int attempt = 0; attempt < 3; ++attempt) {
        EXPECT_THAT(refusal(connection_kind::sql),
                    HasSubstr("lends its connections for single transactions"));
    }
    // And others find nothing of ours in what they are lent.
    postgres_session other("host=127.0.0.1 user=postgres dbname=" + database_ +
                           " port=" + std::to_string(server().port()));
    EXPECT_NE(other.value_of("SHOW search_path"), "pg_catalog");
}

TEST_F(Pooler, ThatLendsConnectionsForStatementsIsRefused) {
    pool("statement");
    const auto opened = open(connection_kind::sql);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, errc::postgres_refused) << "it is the same at the next try";
    EXPECT_THAT(to_string(opened.error()),
                HasSubstr("lends its connections for single statements"));
    EXPECT_THAT(to_string(opened.error()), HasSubstr("connect past the pooler"));
}

TEST_F(Pooler, WithOneConnectionIsRefusedInEitherMode) {
    pool("transaction", 1);
    EXPECT_NE(refusal(connection_kind::sql), "connected");
}

TEST_F(Pooler, ThatKeepsSessionsAndHasNoConnectionLeftIsTriedAgain) {
    pool("session", 1);
    const auto opened = open(connection_kind::sql);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, errc::postgres_unavailable) << to_string(opened.error());
}

TEST_F(Pooler, ThatTakesNoReplicationIsNamed) {
    pool("session");
    const auto said = refusal(connection_kind::replication);
    EXPECT_THAT(said, HasSubstr("a pooler answers in PostgreSQL's place"));
    EXPECT_THAT(said, HasSubstr("connect past the pooler"));
}

}  // namespace
}  // namespace walrelay::test
