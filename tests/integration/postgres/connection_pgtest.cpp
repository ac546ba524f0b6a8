#include "postgres_fixture.hpp"
#include "support/free_port.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <gmock/gmock.h>
#include <malloc.h>

#include <cstdlib>
#include <fstream>

namespace walrelay::test {
namespace {

using namespace std::chrono_literals;
using postgres::connection;
using postgres::connection_kind;
using testing::HasSubstr;
using testing::Not;

class Connection : public postgres_fixture {
protected:
    error refusal(const std::string& conninfo, connection_kind kind = connection_kind::sql) {
        auto opened = run(connection::open(context_.get_executor(),
                                           {.conninfo = conninfo, .kind = kind, .timeout = 10s}));
        return opened.has_error() ? opened.error() : error{{}, "connected"};
    }
    std::string shown(connection& by, const std::string& setting) {
        const auto rows = run(by.query("SHOW " + setting));
        return rows.has_value() ? rows->text(0, 0) : to_string(rows.error());
    }
};

TEST_F(Connection, SaysThatNobodyListens) {
    const auto failure = refusal("host=127.0.0.1 user=x port=" + std::to_string(free_port()));
    EXPECT_EQ(failure.code, errc::postgres_unavailable);
    EXPECT_THAT(failure.what, HasSubstr("refused"));
}

TEST_F(Connection, TriesTheNextHost) {
    const auto conninfo = "host=127.0.0.1,127.0.0.1 user=postgres dbname=postgres port=" +
                          std::to_string(free_port()) + "," + std::to_string(server().port());
    EXPECT_EQ(refusal(conninfo).what, "connected");
}

TEST_F(Connection, NamesAMissingDatabase) {
    const auto failure = refusal(server().conninfo("nowhere"));
    EXPECT_EQ(failure.code, errc::postgres_refused);
    EXPECT_EQ(failure.what, "the database nowhere does not exist");
    EXPECT_THAT(failure.server_said, Not(HasSubstr("3D000")));
    EXPECT_THAT(failure.server_said, Not(HasSubstr("LOCATION")));
}

TEST_F(Connection, NamesARoleThatDoesNotExist) {
    const auto failure = refusal(server().conninfo() + " user=nobody_here");
    EXPECT_EQ(failure.code, errc::postgres_refused);
    EXPECT_THAT(failure.what, HasSubstr("nobody_here"));
}

TEST_F(Connection, SaysThatTheServerOffersNoTls) {
    const auto failure = refusal(server().conninfo() + " sslmode=require");
    EXPECT_EQ(failure.code, errc::postgres_refused);
    EXPECT_THAT(failure.what, HasSubstr("offers no TLS"));
}

TEST_F(Connection, SaysThatThePasswordIsWrongWithoutQuotingIt) {
    use_own_server();
    writer_->execute("CREATE ROLE locked LOGIN PASSWORD 'right'");
    const auto rules = writer_->value_of("SHOW hba_file");
    std::ofstream(rules, std::ios::trunc) << "host all locked 127.0.0.1/32 scram-sha-256\n"
                                             "host all postgres 127.0.0.1/32 trust\n";
    writer_->execute("SELECT pg_reload_conf()");
    postgres_session{server().conninfo()}.execute("SELECT 1");
    const auto failure = refusal(server().conninfo() + " user=locked password=hunter2");
    EXPECT_EQ(failure.code, errc::postgres_refused);
    EXPECT_EQ(failure.what, "PostgreSQL refused the password of role locked");
    EXPECT_THAT(to_string(failure), Not(HasSubstr("hunter2")));
    EXPECT_THAT(refusal(server().conninfo() + " user=locked").what, HasSubstr("there is none"));
    const auto stranger = refusal(server().conninfo() + " user=stranger");
    EXPECT_THAT(stranger.remedy, HasSubstr("pg_hba.conf"));
}

TEST_F(Connection, TellsHowToLetARoleReplicate) {
    writer_->execute("DROP ROLE IF EXISTS plain; CREATE ROLE plain LOGIN");
    const auto failure =
        refusal(server().conninfo(database_) + " user=plain", connection_kind::replication);
    EXPECT_EQ(failure.code, errc::postgres_refused);
    EXPECT_TRUE(failure.remedy.starts_with("ALTER ROLE \"plain\" REPLICATION;")) << failure.remedy;
}

TEST_F(Connection, RefusesAnUnreadableConninfoWithoutQuotingIt) {
    const auto failure = refusal("host=127.0.0.1 password='hunter2");
    EXPECT_EQ(failure.code, errc::configuration_invalid);
    EXPECT_THAT(to_string(failure), Not(HasSubstr("hunter2")));
    EXPECT_FALSE(failure.remedy.empty());
}

TEST_F(Connection, GivesUpOnAServerThatDoesNotAnswer) {
    // Listens and never accepts: the kernel completes the handshake of TCP, nobody that of libpq.
    boost::asio::ip::tcp::acceptor deaf{context_, {boost::asio::ip::address_v4::loopback(), 0}};
    const auto conninfo =
        "host=127.0.0.1 user=x port=" + std::to_string(deaf.local_endpoint().port());
    auto opened = run(
        connection::open(context_.get_executor(),
                         {.conninfo = conninfo, .kind = connection_kind::sql, .timeout = 100ms}));
    ASSERT_TRUE(opened.has_error());
    EXPECT_EQ(opened.error().code, errc::postgres_unavailable);
    EXPECT_EQ(opened.error().what, "PostgreSQL did not answer within 100 ms");
}

TEST_F(Connection, PinsTheSessionAgainstRoleDatabaseAndEnvironment) {
    use_own_server();
    writer_->execute(
        "CREATE ROLE odd LOGIN REPLICATION;"
        "ALTER ROLE odd SET datestyle = 'German, DMY'; ALTER ROLE odd SET bytea_output = escape;"
        "ALTER ROLE odd SET extra_float_digits = -15; ALTER ROLE odd SET statement_timeout = 1234;"
        "ALTER ROLE odd SET search_path = public; ALTER ROLE odd SET client_encoding = LATIN1;"
        "ALTER ROLE odd SET intervalstyle = sql_standard; ALTER ROLE odd SET lock_timeout = 99;"
        "ALTER ROLE odd SET idle_in_transaction_session_timeout = 77;"
        "ALTER ROLE odd SET jit = on;");
    setenv("PGTZ", "Asia/Tokyo", 1);
    setenv("PGDATESTYLE", "SQL, DMY", 1);
    for (const auto kind : {connection_kind::sql, connection_kind::replication}) {
        auto wanted = options(kind);
        wanted.conninfo += " user=odd client_encoding=LATIN1 options='-c TimeZone=Asia/Tokyo'";
        auto opened = run(connection::open(context_.get_executor(), wanted));
        ASSERT_TRUE(opened.has_value()) << to_string(opened.error());
        EXPECT_THAT(shown(*opened, "datestyle"), HasSubstr("ISO"));
        EXPECT_EQ(shown(*opened, "timezone"), "UTC");
        EXPECT_EQ(shown(*opened, "bytea_output"), "hex");
        EXPECT_EQ(shown(*opened, "extra_float_digits"), "3");
        EXPECT_EQ(shown(*opened, "intervalstyle"), "postgres");
        EXPECT_EQ(shown(*opened, "client_encoding"), "UTF8");
        EXPECT_EQ(shown(*opened, "statement_timeout"), "0");
        EXPECT_EQ(shown(*opened, "lock_timeout"), "0");
        EXPECT_EQ(shown(*opened, "idle_in_transaction_session_timeout"), "0");
        EXPECT_EQ(shown(*opened, "jit"), "off");
        EXPECT_EQ(shown(*opened, "search_path"),
                  kind == connection_kind::sql ? "pg_catalog" : "public");
    }
    unsetenv("PGTZ");
    unsetenv("PGDATESTYLE");
}

TEST_F(Connection, GivesTheRowsOfAnAnswerOneByOneUpToAnError) {
    auto opened = connect();
    std::vector<std::string> seen;
    const postgres::row_visitor each = [&](const postgres::row_set& one) {
        ASSERT_EQ(one.size(), 1U);
        seen.push_back(one.text(0, 0));
    };
    const auto whole = run(opened.ask_row_by_row("SELECT generate_series(1, 3)", each));
    ASSERT_TRUE(whole.has_value());
    EXPECT_TRUE(whole->empty());
    EXPECT_EQ(seen, (std::vector<std::string>{"1", "2", "3"}));
    seen.clear();
    const auto broken =
        run(opened.ask_row_by_row("SELECT 6 / (3 - n) FROM generate_series(1, 5) AS n", each));
    ASSERT_TRUE(broken.has_error());
    EXPECT_EQ(broken.error().sqlstate, "22012");
    EXPECT_EQ(seen, (std::vector<std::string>{"3", "6"}));
    seen.clear();
    EXPECT_TRUE(run(opened.ask_row_by_row("SELECT WHERE false", each)).has_value());
    EXPECT_TRUE(seen.empty());
    EXPECT_EQ(shown(opened, "search_path"), "pg_catalog");
}

TEST_F(Connection, KeepsTheOptionsOfTheUser) {
    auto wanted = options(connection_kind::sql);
    wanted.conninfo += " options='-c work_mem=7MB' application_name=mine";
    auto opened = run(connection::open(context_.get_executor(), wanted));
    ASSERT_TRUE(opened.has_value());
    EXPECT_EQ(shown(*opened, "work_mem"), "7MB");
    EXPECT_EQ(shown(*opened, "application_name"), "mine");
    auto plain = connect();
    EXPECT_EQ(shown(plain, "application_name"), "walrelay");
}

TEST_F(Connection, ReturnsRowsWithNullsAndParameters) {
    auto sql = connect();
    const std::vector<std::string> parameters{"7", "Grüße"};
    const auto rows =
        run(sql.query("SELECT $1::int + 1 AS sum, $2 AS words, NULL AS nothing", parameters));
    ASSERT_TRUE(rows.has_value());
    ASSERT_EQ(rows->size(), 1U);
    EXPECT_EQ(rows->column_names(), (std::vector<std::string>{"sum", "words", "nothing"}));
    EXPECT_EQ(rows->at(0, 0), "8");
    EXPECT_EQ(rows->at(0, 1), "Grüße");
    EXPECT_EQ(rows->at(0, 2), std::nullopt);
}

TEST_F(Connection, SendsAStatementThatIsLargerThanTheSocketTakes) {
    auto sql = connect();
    const std::vector<std::string> parameters{std::string(30'000'000, 'x')};
    const auto rows = run(sql.query("SELECT length($1), $1", parameters));
    ASSERT_TRUE(rows.has_value());
    EXPECT_EQ(rows->at(0, 0), "30000000");
    EXPECT_EQ(rows->text(0, 1), parameters.front());
}

/// Code that a statement runs can say as much as it likes.
TEST_F(Connection, KeepsNoMoreOfAWarningThanItsBeginning) {
    auto sql = connect();
    const auto done = run(sql.query("DO $$ BEGIN RAISE WARNING '%', repeat('x', 5000000); END $$"));
    ASSERT_TRUE(done.has_value());
    const auto warnings = sql.take_warnings();
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_LE(warnings.front().message.size(), 4096U);
}

TEST_F(Connection, KeepsNoNotificationsThatNobodyAskedFor) {
    auto sql = connect();
    constexpr std::size_t bytes_of_all = std::size_t{7000} * 3000;
    const auto before = ::mallinfo2().uordblks;
    for (const auto* const each :
         {"LISTEN somebody",
          "DO $$ BEGIN FOR i IN 1..3000 LOOP PERFORM pg_notify('somebody', i || repeat('x', "
          "7000)); END LOOP; END $$",
          "SELECT 1"}) {
        ASSERT_TRUE(run(sql.query(each)).has_value());
    }
    EXPECT_LT(::mallinfo2().uordblks, before + bytes_of_all / 4);
}

TEST_F(Connection, GoesOnAfterAnError) {
    auto sql = connect();
    const auto failed = run(sql.query("SELECT * FROM missing"));
    ASSERT_TRUE(failed.has_error());
    EXPECT_EQ(failed.error().code, errc::postgres_unsuitable);
    EXPECT_THAT(failed.error().server_said, HasSubstr("missing"));
    EXPECT_TRUE(run(sql.query("SELECT 1")).has_value());
}

}  // namespace
}  // namespace walrelay::test
