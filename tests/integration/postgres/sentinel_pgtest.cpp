// A session that idles and notices how it ends; operations whose connection goes away under them.
#include "postgres_fixture.hpp"

#include <gmock/gmock.h>

#include <thread>

namespace walrelay::test {
namespace {

using testing::HasSubstr;

class Sentinel : public postgres_fixture {
protected:
    void watch(postgres::connection& over) {
        start(over.closed(), [this](error how) { ended_ = std::move(how); });
        context_.restart();
        context_.poll();
        ASSERT_FALSE(ended_.has_value());
    }
    std::optional<error> ended_;
};

TEST_F(Sentinel, NoticesAFastShutdownWhileAStreamHoldsItUp) {
    use_own_server();
    auto streaming = stream(make_slot(output_plugin::pgoutput));
    auto sentinel = connect();
    watch(sentinel);
    // The server cannot stop yet: the row is not confirmed by the stream.
    writer_->execute("INSERT INTO events VALUES (1, 'held')");
    std::thread stopping{[this] { server().stop(postgres_stop::fast); }};
    run_until([this] { return ended_.has_value(); });
    streaming.close();
    stopping.join();
    EXPECT_EQ(ended_->code, errc::postgres_lost);
    EXPECT_THAT(ended_->server_said, HasSubstr("administrator command"));
}

TEST_F(Sentinel, NoticesThatTheServerVanished) {
    use_own_server();
    auto sentinel = connect();
    watch(sentinel);
    server().stop(postgres_stop::immediate);
    run_until([this] { return ended_.has_value(); });
    EXPECT_EQ(ended_->code, errc::postgres_lost);
    EXPECT_FALSE(ended_->server_said.empty());
}

TEST_F(Sentinel, NoticesThatItsSessionWasTerminated) {
    auto sentinel = connect();
    const auto rows = run(sentinel.query("SELECT pg_backend_pid()"));
    watch(sentinel);
    writer_->execute("SELECT pg_terminate_backend(" + rows->text(0, 0) + ")");
    run_until([this] { return ended_.has_value(); });
    EXPECT_EQ(ended_->code, errc::postgres_lost);
}

TEST_F(Sentinel, EndsWhenItsConnectionIsClosed) {
    auto sentinel = connect();
    watch(sentinel);
    sentinel.close();
    run_until([this] { return ended_.has_value(); });
    EXPECT_EQ(ended_->what, "the connection to PostgreSQL was closed");
}

TEST_F(Sentinel, EndsWhenItsConnectionIsDestroyed) {
    {
        auto sentinel = connect();
        watch(sentinel);
    }
    run_until([this] { return ended_.has_value(); });
    EXPECT_EQ(ended_->code, errc::postgres_lost);
}

TEST_F(Sentinel, AQueryEndsWhenItsConnectionIsClosed) {
    auto sql = connect();
    std::optional<result<postgres::row_set>> answered;
    start(sql.query("SELECT pg_sleep(60)"),
          [&](result<postgres::row_set> rows) { answered.emplace(std::move(rows)); });
    context_.restart();
    context_.poll();
    sql.close();
    run_until([&] { return answered.has_value(); });
    ASSERT_TRUE(answered->has_error());
    EXPECT_EQ(answered->error().code, errc::postgres_lost);
    EXPECT_TRUE(run(sql.query("SELECT 1")).has_error());
}

TEST_F(Sentinel, AQuerySaysThatItsSessionWasTerminated) {
    auto sql = connect();
    const auto pid = run(sql.query("SELECT pg_backend_pid()"))->text(0, 0);
    writer_->execute("SELECT pg_terminate_backend(" + pid + ", 10000)");
    const auto rows = run(sql.query("SELECT 1"));
    ASSERT_TRUE(rows.has_error());
    EXPECT_EQ(rows.error().code, errc::postgres_lost);
}

}  // namespace
}  // namespace walrelay::test
