// The files of sql/: each runs in psql by itself, twice without harm, and does what it says.
#include "chaos/tcp_proxy.hpp"
#include "integration/e2e/relay_bench.hpp"
#include "support/child_process.hpp"
#include "support/eventually.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <cstring>
#include <fstream>

namespace walrelay::test {
namespace {

using names = std::vector<std::string>;

/// `file` says which one has to be there first.
const std::map<std::string, names> needs = {{"outbox_checks.sql", {"outbox.sql"}},
                                            {"publish.sql", {"outbox.sql"}},
                                            {"role.sql", {"outbox.sql"}}};

class SqlFiles : public testing::Test {
protected:
    /// What psql prints; the test fails unless it exits with 0.
    std::string psql(const std::string& file, const names& variables = {}) {
        command what{.program = "psql",
                     .arguments = {"-X", "-q", "-d", conninfo_},
                     .folder = bench.folder(),
                     .name = "psql" + std::to_string(++runs_)};
        for (const auto& each : variables) {
            what.arguments.insert(what.arguments.end(), {"-v", each});
        }
        what.arguments.insert(what.arguments.end(), {"-f", WALRELAY_SQL_FOLDER "/" + file});
        child_process run(what);
        EXPECT_EQ(run.wait_exit(patience), 0) << file << ": " << run.standard_error();
        said_ = run.standard_error();
        return run.standard_output();
    }
    void psql_all(const names& files) {
        for (const auto& file : files) {
            psql(file);
        }
    }
    std::string refusal(const std::string& sql) {
        try {
            writer_.execute(sql);
        } catch (const std::runtime_error& failure) {
            return failure.what();
        }
        return "it is taken";
    }

    relay_bench bench{shared_postgres(), shared_nats(), "pgoutput"};
    postgres_session writer_ = bench.session();
    std::string conninfo_ = shared_postgres().conninfo(bench.database());
    /// By the last file, as warnings.
    std::string said_;

private:
    int runs_ = 0;
};

TEST_F(SqlFiles, RunByThemselvesAndTwice) {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(WALRELAY_SQL_FOLDER)) {
        if (entry.path().extension() != ".sql") {
            continue;
        }
        const auto file = entry.path().filename().string();
        if (const auto first = needs.find(file); first != needs.end()) {
            psql_all(first->second);
        }
        psql_all({file, file});
        ++count;
    }
    EXPECT_EQ(count, 17U);
}

TEST_F(SqlFiles, AreListedInTheirReadme) {
    std::ifstream file(WALRELAY_SQL_FOLDER "/README.md");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    for (const auto& entry : std::filesystem::directory_iterator(WALRELAY_SQL_FOLDER)) {
        const auto name = entry.path().filename().string();
        EXPECT_TRUE(name == "README.md" || text.find("(" + name + ")") != std::string::npos)
            << name;
    }
}

TEST_F(SqlFiles, ChecksRefuseWhatTheBrokerWouldRefuse) {
    psql_all({"outbox.sql", "outbox_checks.sql", "publish.sql"});
    const std::string call = "SELECT walrelay.publish";
    writer_.execute(call + "('user', '1', 'user.created', '{}')");
    EXPECT_NE(refusal(call + "('us.er', '1', 'user.created', '{}')").find("aggregate_type"),
              std::string::npos);
    for (const auto* type : {"", "a..b", ".a", "a.", "a b", "a.*", ">"}) {
        EXPECT_NE(refusal(call + "('user', '1', '" + type + "', '{}')").find("event_type_is"),
                  std::string::npos)
            << type;
    }
    EXPECT_NE(refusal(call + "('user', '1', 'a', to_jsonb(repeat('x', 950000)))").find("fits"),
              std::string::npos);
    writer_.execute(call + "('user', '1', 'a', to_jsonb(repeat('x', 949000)))");
    EXPECT_EQ(writer_.value_of("SELECT count(*) FROM outbox_events"), "2");
}

TEST_F(SqlFiles, OtherTablesAndSizesMayBeNamed) {
    psql("outbox.sql", {"outbox=\"Odd One\""});
    psql("outbox_checks.sql", {"outbox=\"Odd One\"", "max_bytes=100"});
    const std::string insert =
        "INSERT INTO \"Odd One\" (aggregate_type, aggregate_id, event_type, event_data) VALUES "
        "('a', '1', 'b', to_jsonb(repeat('x', ";
    writer_.execute(insert + "90)))");
    EXPECT_NE(refusal(insert + "200)))").find("walrelay_payload_fits"), std::string::npos);
}

TEST_F(SqlFiles, PartitionsAreMadeAheadAndDropped) {
    psql("outbox_partitioned.sql");
    const std::string count =
        "SELECT count(*) FROM pg_inherits WHERE inhparent = 'outbox_events_partitioned'::regclass";
    EXPECT_EQ(writer_.value_of(count), "9") << "eight days and the rest";
    EXPECT_EQ(writer_.value_of("SELECT count(*) FROM walrelay.keep_outbox_partitions(3, 9)"), "2");
    writer_.execute(
        "DO $$ BEGIN EXECUTE format('CREATE TABLE outbox_events_partitioned_20200101 PARTITION OF "
        "outbox_events_partitioned FOR VALUES FROM (%L) TO (%L)', "
        "'2020-01-01 00:00+00', '2020-01-02 00:00+00'); END $$");
    EXPECT_EQ(writer_.value_of("SELECT walrelay.keep_outbox_partitions()"),
              "dropped outbox_events_partitioned_20200101");
    writer_.execute(
        "INSERT INTO outbox_events_partitioned (aggregate_type, aggregate_id, "
        "event_type, event_data) VALUES ('a', '1', 'b', '{}')");
    EXPECT_EQ(writer_.value_of("SELECT count(*) FROM outbox_events_partitioned_rest"), "0");
}

/// As managed services have it: nobody is a superuser, and the administrator may make roles.
TEST_F(SqlFiles, RoleIsMadeWithoutASuperuser) {
    const auto& own = bench.name();
    const auto administrator = own + "_admin";
    writer_.execute("CREATE ROLE " + administrator + " LOGIN CREATEROLE; ALTER DATABASE " +
                    bench.database() + " OWNER TO " + administrator +
                    "; GRANT CREATE ON SCHEMA public TO " + administrator);
    conninfo_ += " user=" + administrator;
    psql("outbox.sql");
    const names its_own = {"role=" + own, "publication=" + own};
    psql("role.sql", its_own);
    const auto replicates = [&] {
        return writer_.value_of("SELECT rolreplication FROM pg_roles WHERE rolname = '" + own +
                                "'");
    };
    EXPECT_EQ(replicates(), "f");
    EXPECT_NE(said_.find("ALTER ROLE " + own + " REPLICATION"), std::string::npos) << said_;
    EXPECT_NE(said_.find("docs/managed.md"), std::string::npos) << said_;
    EXPECT_EQ(
        writer_.value_of("SELECT has_table_privilege('" + own + "', 'walrelay.witness', 'INSERT')"),
        "t")
        << "all that can be done is done";
    // With that one statement of the service all is there.
    writer_.execute("ALTER ROLE " + own + " REPLICATION");
    psql("role.sql", its_own);
    EXPECT_EQ(said_.find("may not replicate"), std::string::npos) << said_;
    bench.set_conninfo(shared_postgres().conninfo(bench.database()) + " user=" + own);
    const auto checked = bench.command({"check"});
    EXPECT_EQ(checked.exit_code, 0) << checked.output << checked.errors;
}

TEST_F(SqlFiles, RoleBecomesAMemberWhereTheServiceWantsThat) {
    postgres_server server;
    server.session("postgres")
        .execute(
            "CREATE ROLE rds_replication; CREATE ROLE administrator LOGIN CREATEROLE; "
            "GRANT rds_replication TO administrator WITH ADMIN OPTION");
    server.session("postgres").execute("CREATE DATABASE app OWNER administrator");
    conninfo_ = server.conninfo("app") + " user=administrator";
    server.session("app").execute("GRANT CREATE ON SCHEMA public TO administrator");
    psql_all({"outbox.sql", "role.sql"});
    EXPECT_EQ(said_.find("may not replicate"), std::string::npos) << said_;
    EXPECT_EQ(server.session("app").value_of(
                  "SELECT pg_has_role('walrelay', 'rds_replication', 'MEMBER')"),
              "t");
}

/// As Amazon RDS lets a member of rds_replication replicate, which the catalog shows of nobody: who
/// begins a replication connection is another role here, one that may. Source: PostgreSQL
/// documentation, "Message Formats", StartupMessage.
std::string let_members_replicate(std::string first) {
    constexpr std::size_t before_parameters = 8;
    const std::string asks_for_replication = std::string("\0replication\0", 13);
    const std::string user = std::string("user\0", 5);
    const auto at = first.find(user, before_parameters);
    if (first.find(asks_for_replication) == std::string::npos || at == std::string::npos) {
        return first;
    }
    const auto from = at + user.size();
    first.replace(from, first.find('\0', from) - from, "stands_for_members");
    const auto size = htonl(static_cast<std::uint32_t>(first.size()));
    std::memcpy(first.data(), &size, sizeof size);
    return first;
}

/// From the SQL files of somebody who is no superuser to rows in the stream.
TEST_F(SqlFiles, RelayRunsWhereMembersMayReplicate) {
    postgres_server server;
    server.session().execute(
        "CREATE ROLE rds_replication; CREATE ROLE stands_for_members LOGIN REPLICATION; "
        "CREATE ROLE administrator LOGIN CREATEROLE; "
        "GRANT rds_replication TO administrator WITH ADMIN OPTION");
    chaos::tcp_proxy service(server.port(), let_members_replicate);
    for (const char* const plugin : {"wal2json", "pgoutput"}) {
        relay_bench rented(server, shared_nats(), plugin);
        const auto& own = rented.name();
        server.session(rented.database())
            .execute("ALTER DATABASE " + rented.database() +
                     " OWNER TO administrator; GRANT CREATE ON SCHEMA public TO administrator");
        conninfo_ = server.conninfo(rented.database()) + " user=administrator";
        psql("outbox.sql");
        psql("role.sql", {"role=" + own, "publication=" + own});
        EXPECT_EQ(said_.find("may not replicate"), std::string::npos) << said_;
        EXPECT_EQ(server.session().value_of(
                      "SELECT rolreplication FROM pg_roles WHERE rolname = '" + own + "'"),
                  "f");
        rented.set_outbox(
            "[[outbox]]\ntable = 'outbox_events'\nsubject = '%.{aggregate_type}.{event_type}'\n");
        rented.set_conninfo("host=127.0.0.1 port=" + std::to_string(service.port()) +
                            " dbname=" + rented.database() + " user=" + own +
                            " sslmode=disable gssencmode=disable");
        for (const auto* const command : {"check", "init", "check"}) {
            const auto done = rented.command({command});
            EXPECT_EQ(done.exit_code, 0) << plugin << command << done.output << done.errors;
        }
        rented.start();
        rented.execute(
            "INSERT INTO outbox_events (aggregate_type, aggregate_id, event_type, event_data) "
            "SELECT 'user', n, 'created', '{}' FROM generate_series(1, 20) AS n");
        EXPECT_TRUE(rented.confirms_messages(20)) << rented.relay().log();
        EXPECT_EQ(rented.command({"verify"}).exit_code, 0) << plugin;
        rented.kill_9();
        rented.start();
        rented.stop();
    }
}

TEST_F(SqlFiles, InboxClaimsAMessageOnceAndOnlyIfItCommits) {
    psql("inbox.sql");
    auto other = bench.session();
    const std::string claim = "SELECT walrelay_inbox.claim('m-1', 'billing')";
    writer_.execute("BEGIN");
    EXPECT_EQ(writer_.value_of(claim), "t");
    writer_.execute("ROLLBACK");
    EXPECT_EQ(writer_.value_of(claim), "t");
    EXPECT_EQ(other.value_of(claim), "f");
    EXPECT_EQ(other.value_of("SELECT walrelay_inbox.claim('m-1', 'mail')"), "t");
    writer_.execute(
        "UPDATE walrelay_inbox.claimed SET claimed_at = now() - interval '8 days' "
        "WHERE consumer = 'billing'");
    EXPECT_EQ(other.value_of("SELECT walrelay_inbox.purge('7 days')"), "1");
    EXPECT_EQ(other.value_of("SELECT walrelay_inbox.purge('7 days')"), "0");
    EXPECT_EQ(other.value_of(claim), "t");
}

TEST_F(SqlFiles, LagShowsSlotAndDeadLetters) {
    psql_all({"outbox.sql", "dead_letter.sql"});
    bench.set_outbox(
        "[[outbox]]\ntable = \"outbox_events\"\n"
        "subject = \"%.{aggregate_type}.{event_type}\"\n");
    bench.start();
    const auto shown = psql("lag.sql", {"slot=" + bench.name()});
    EXPECT_NE(shown.find(" | pgoutput | t "), std::string::npos) << shown;
    EXPECT_NE(shown.find(" | streaming | "), std::string::npos) << shown;
    bench.stop();
}

/// Everything that the program does, with the rights of sql/role.sql and no more.
class LeastPrivilege : public e2e_test {
protected:
    void psql(const std::string& file, const names& variables) {
        command what{.program = "psql",
                     .arguments = {"-X", "-q", "-d", shared_postgres().conninfo(bench.database())},
                     .folder = bench.folder(),
                     .name = file};
        for (const auto& each : variables) {
            what.arguments.insert(what.arguments.end(), {"-v", each});
        }
        what.arguments.insert(what.arguments.end(), {"-f", WALRELAY_SQL_FOLDER "/" + file});
        run_to_success(what, patience);
    }
};

TEST_P(LeastPrivilege, IsEnoughForAll) {
    const auto role = "relay_of_" + bench.database();
    psql("outbox.sql", {});
    psql("publish.sql", {});
    psql("emit.sql", {});
    psql("role.sql", {"role=" + role, "publication=" + bench.name()});
    const auto app = "app_of_" + bench.database();
    bench.execute("CREATE ROLE " + app);
    psql("role.sql", {"role=" + role, "publication=" + bench.name(), "message_writer=" + app});
    bench.set_conninfo(shared_postgres().conninfo(bench.database()) + " user=" + role);
    bench.set_outbox(
        "[[outbox]]\ntable = \"outbox_events\"\n"
        "subject = \"%.{aggregate_type}.{event_type}\"\n"
        "[[outbox]]\nmessage_prefix = \"walrelay\"\n"
        "subject = \"%.{aggregate_type}.{event_type}\"\n");
    const auto init = bench.command({"init"});
    ASSERT_EQ(init.exit_code, 0) << init.errors;
    const auto checked = bench.command({"check"});
    EXPECT_EQ(checked.exit_code, 0);
    EXPECT_EQ(checked.output.find("pg_logical_emit_message"), std::string::npos) << checked.output;
    bench.start();
    auto writer = bench.session();
    writer.execute(
        "SELECT walrelay.publish('user', '1', 'user.created', '{}'); "
        "SELECT walrelay.emit('user', '1', 'user.seen', '{}'); "
        "SELECT walrelay.publish('', '1', 'poison', '{}')");
    ASSERT_TRUE(bench.wait_for_messages(2));
    ASSERT_TRUE(eventually(patience, [&] {
        return writer.value_of("SELECT count(*) FROM walrelay.dead_letter") == "1";
    }));
    const auto list = bench.command({"dead-letter", "list"});
    EXPECT_EQ(list.exit_code, 0) << list.errors;
    EXPECT_EQ(bench.command({"dead-letter", "retry", "--all"}).exit_code, 0);
    const auto verified = bench.command({"verify"});
    EXPECT_EQ(verified.exit_code, 0) << verified.output << verified.errors;
    bench.stop();
}

INSTANTIATE_TEST_SUITE_P(, LeastPrivilege, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
