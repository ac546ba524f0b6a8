// What proves to the servers who walrelay is, changed while it runs.
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"
#include "support/secret_file.hpp"
#include "support/tls_files.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace walrelay::test {
namespace {

class Rotation : public testing::Test {
protected:
    Rotation() {
        std::ifstream conf(nats.folder() / "nats.conf");
        std::stringstream all;
        all << conf.rdbuf();
        settings_ = all.str();
        bench.create_table();
        bench.set_delivery("backoff_max = '200ms'\n");
    }
    /// The server lets in whom `user` describes, and others without a log-in.
    void let_in(const std::string& user) {
        nats.stop();
        std::ofstream(nats.folder() / "nats.conf", std::ios::trunc)
            << settings_ << "\nno_auth_user: operator\nauthorization { users: [ { user: operator, "
            << "password: x }, { " << user << " } ] }\n";
        nats.start();
    }
    void relay_one_more() {
        ++written_;
        bench.execute(insert_events(written_, written_));
        EXPECT_TRUE(bench.wait_for_messages(written_)) << bench.relay().log();
    }
    /// The server is told first, so that the relay is refused for a while.
    void rotate(const std::string& user, const std::string& content) {
        let_in(user);
        EXPECT_TRUE(bench.relay().wait_for_log("refuses the log-in", patience))
            << bench.relay().log();
        write_secret(secret(), content);
        relay_one_more();
    }
    [[nodiscard]] std::filesystem::path secret() const { return bench.folder() / "secret"; }
    /// The server asks relays for a certificate, and lets the test itself in without TLS: from its
    /// next start on, or when it is told to.
    void configure(const tls_files& issued) {
        std::ofstream(nats.folder() / "nats.conf", std::ios::trunc)
            << settings_ << "\nallow_non_tls: true\ntls { cert_file: \""
            << issued.server_certificate() << "\", key_file: \"" << issued.server_key()
            << "\", ca_file: \"" << issued.ca() << "\", verify: true }\n";
    }
    void restart_with(const tls_files& issued) {
        nats.stop();
        configure(issued);
        nats.start();
    }

    nats_server nats;
    relay_bench bench{shared_postgres(), nats, "pgoutput"};

private:
    std::string settings_;
    std::uint64_t written_ = 0;
};

TEST_F(Rotation, OfAPasswordIsWaitedOut) {
    write_secret(secret(), "before\n");
    bench.set_nats("user = 'relay'\npassword_file = '" + secret().string() + "'\n");
    let_in("user: relay, password: before");
    bench.start();
    relay_one_more();
    rotate("user: relay, password: after", "after\n");
    bench.stop();
}

TEST_F(Rotation, OfAnNkeyIsWaitedOut) {
    write_secret(secret(), "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY\n");
    bench.set_nats("nkey_seed = '" + secret().string() + "'\n");
    let_in("nkey: UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4");
    bench.start();
    relay_one_more();
    rotate("nkey: UCSTAH52NMH4BG6M7GVTXK6K32XFXBINF7ZITSH3K6HXQ7NQLYV3WKUP",
           "SUAG4LSWZOTLFTBPRMYBCUKLKLV6CQL4S2KDD7INEYOLGUGPT7LYSFQ7W4\n");
    bench.stop();
}

std::string content_of(const std::filesystem::path& file) {
    std::ifstream in(file);
    std::stringstream all;
    all << in.rdbuf();
    return all.str();
}

/// What a relay is given of `issued`, at names that stay the same.
struct given_files {
    std::filesystem::path folder;
    [[nodiscard]] std::string ca() const { return folder / "given-ca.pem"; }
    [[nodiscard]] std::string certificate() const { return folder / "given-client.pem"; }
    [[nodiscard]] std::string key() const { return folder / "given-client.key"; }
    void hold(const tls_files& issued) const {
        write_secret(ca(), content_of(issued.ca()));
        write_secret(certificate(), content_of(issued.client_certificate()));
        write_secret(key(), content_of(issued.client_key()));
    }
};

/// New authority, certificates and keys, in the usual order: the server's first, which a connection
/// outlives and its next one does not.
TEST_F(Rotation, OfACertificateIsWaitedOut) {
    const tls_files before;
    const tls_files after("another authority");
    const given_files given{bench.folder()};
    given.hold(before);
    bench.set_nats("tls = { ca = '" + given.ca() + "', cert = '" + given.certificate() +
                   "', key = '" + given.key() + "' }\n");
    restart_with(before);
    bench.start();
    relay_one_more();
    ASSERT_TRUE(bench.wait_until_marked());
    configure(after);
    ASSERT_EQ(kill(nats.pid(), SIGHUP), 0);
    EXPECT_TRUE(eventually(patience, [&] {
        return nats.log().find("Reloaded: tls") != std::string::npos;
    })) << nats.log();
    relay_one_more();
    restart_with(after);
    EXPECT_TRUE(bench.relay().wait_for_log("certificate", patience)) << bench.relay().log();
    bench.execute(insert_events(100, 149));
    EXPECT_TRUE(bench.relay().process().running());
    given.hold(after);
    bench.expect_relayed(bench.committed_ids());
}

/// A role whose password the server asks for, and a relay that reads it from a file.
class DatabaseRotation : public testing::TestWithParam<const char*> {
protected:
    DatabaseRotation() {
        auto operating = postgres.session();
        operating.execute("CREATE ROLE relay LOGIN SUPERUSER PASSWORD 'before'");
        std::ofstream(operating.value_of("SHOW hba_file"), std::ios::trunc)
            << "host all relay 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n";
        operating.execute("SELECT pg_reload_conf()");
        bench.create_table();
        bench.set_delivery("backoff_max = '200ms'\n");
        bench.set_conninfo(bench.conninfo() + " user=relay passfile=" + password_file().string());
        give("before");
    }
    void give(const std::string& password) {
        write_secret(password_file(), "*:*:*:relay:" + password + "\n");
    }
    void relay_one_more() {
        ++written_;
        bench.execute(insert_events(written_, written_));
        EXPECT_TRUE(bench.wait_for_messages(written_)) << bench.relay().log();
    }
    /// The server asks it for its password, and it may write statuses back.
    void let_in_a_writer(const std::string& password) {
        auto operating = postgres.session();
        operating.execute("CREATE ROLE writer LOGIN PASSWORD '" + password + "'");
        std::ofstream(operating.value_of("SHOW hba_file"), std::ios::trunc)
            << "host all relay,writer 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 "
               "trust\n";
        operating.execute("SELECT pg_reload_conf()");
        bench.set_outbox(
            "[[outbox]]\ntable = 'outbox_events'\nsubject = '%.x'\n"
            "on_published = \"status = 'published'\"\n");
        EXPECT_EQ(bench.command({"init"}).exit_code, 0);
        bench.execute(
            "GRANT SELECT, UPDATE ON outbox_events TO writer; GRANT USAGE ON SCHEMA walrelay TO "
            "writer; GRANT SELECT ON walrelay.dead_letter TO writer");
    }
    [[nodiscard]] bool are_written_back() const {
        return eventually(patience, [&] {
            return bench.session().value_of(
                       "SELECT count(*) FROM outbox_events WHERE status <> 'published'") == "0";
        });
    }
    /// From now on the relay is met by `change`.
    void cut_after(const std::string& change) {
        auto operating = postgres.session();
        operating.execute(change);
        operating.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE usename = 'relay'");
    }
    void expect_waiting(const std::string& reason) {
        EXPECT_TRUE(bench.relay().wait_for_log(reason, patience)) << bench.relay().log();
        EXPECT_TRUE(bench.relay().process().running());
    }
    /// And for nothing else, of the role relay.
    void ask_for_certificates_of(const tls_files& issued) {
        auto operating = postgres.session();
        const std::filesystem::path data = operating.value_of("SHOW data_directory");
        own(data, "server.crt", content_of(issued.server_certificate()));
        own(data, "server.key", content_of(issued.server_key()));
        own(data, "root.crt", content_of(issued.ca()));
        std::ofstream(operating.value_of("SHOW hba_file"), std::ios::trunc)
            << "hostssl all relay 127.0.0.1/32 trust clientcert=verify-ca\n"
            << "host all postgres 127.0.0.1/32 trust\n";
        operating.execute("ALTER SYSTEM SET ssl_ca_file = 'root.crt'");
        operating.execute("ALTER SYSTEM SET ssl = on");
        const std::string loaded = "SELECT pg_conf_load_time()";
        const auto before = operating.value_of(loaded);
        operating.execute("SELECT pg_reload_conf()");
        EXPECT_TRUE(
            eventually(patience, [&] { return postgres.session().value_of(loaded) != before; }));
    }
    /// It has come back, with all rows.
    void expect_relayed() {
        relay_one_more();
        EXPECT_TRUE(exactly_once_in_order(bench.committed_ids(), bench.events()));
        const auto log = bench.relay().log();
        EXPECT_NE(log.find("streaming from slot"), log.rfind("streaming from slot"));
        bench.stop();
    }

    postgres_server postgres;
    relay_bench bench{postgres, shared_nats(), GetParam()};

private:
    /// A file of the server's user, who need not be the test's.
    static void own(const std::filesystem::path& folder, const char* name,
                    const std::string& content) {
        write_secret(folder / name, content);
        struct stat of {};
        ASSERT_EQ(stat(folder.c_str(), &of), 0);
        ASSERT_EQ(chown((folder / name).c_str(), of.st_uid, of.st_gid), 0);
    }
    [[nodiscard]] std::filesystem::path password_file() const {
        return bench.folder() / "passwords";
    }
    std::uint64_t written_ = 0;
};

TEST_P(DatabaseRotation, ExpiredPasswordIsWaitedOut) {
    bench.start();
    relay_one_more();
    cut_after("ALTER ROLE relay VALID UNTIL '2001-01-01'");
    expect_waiting("PostgreSQL refused the password of role relay");
    EXPECT_TRUE(bench.relay().wait_for_log("VALID UNTIL", patience)) << "what to do";
    postgres.session().execute("ALTER ROLE relay VALID UNTIL 'infinity'");
    expect_relayed();
}

TEST_P(DatabaseRotation, ChangedPasswordIsReadAgainFromItsFile) {
    bench.start();
    relay_one_more();
    cut_after("ALTER ROLE relay PASSWORD 'after'");
    expect_waiting("PostgreSQL refused the password of role relay");
    give("after");
    expect_relayed();
}

TEST_P(DatabaseRotation, APasswordFileIsReadAtEachConnect) {
    const auto file = bench.folder() / "token";
    write_secret(file, "before\n");
    bench.set_conninfo(bench.conninfo() + " user=relay");
    bench.set_postgres("password_file = '" + file.string() + "'\n");
    bench.start();
    relay_one_more();
    cut_after("ALTER ROLE relay PASSWORD 'after'");
    expect_waiting("PostgreSQL refused the password of role relay");
    write_secret(file, "after\n");
    expect_relayed();
    EXPECT_EQ(bench.relay().log().find("before"), std::string::npos);
}

TEST_P(DatabaseRotation, APasswordCommandIsRunAtEachConnect) {
    const auto file = bench.folder() / "token";
    cut_after("ALTER ROLE relay PASSWORD 'token-before'");
    write_secret(file, "token-before\nand more\n");
    bench.set_conninfo(bench.conninfo() + " user=relay");
    bench.set_postgres("password_command = 'cat " + file.string() + "'\n");
    bench.start();
    relay_one_more();
    std::filesystem::remove(file);
    cut_after("ALTER ROLE relay PASSWORD 'token-after'");
    expect_waiting("postgres.password_command gave no password for PostgreSQL: it ended with exit");
    write_secret(file, "token-wrong\n");
    expect_waiting("PostgreSQL refused the password of role relay");
    write_secret(file, "token-after\n");
    expect_relayed();
    for (const auto* const never : {"token-before", "token-wrong", "token-after", "and more"}) {
        EXPECT_EQ(bench.relay().log().find(never), std::string::npos) << never;
    }
}

/// The role that changes rows has a password of its own.
TEST_P(DatabaseRotation, APasswordOfTheWriterIsAskedAtEachConnect) {
    let_in_a_writer("writer-before");
    const auto file = bench.folder() / "writer";
    for (const auto* const key : {"writer_password_file", "writer_password_command"}) {
        const bool is_file = std::string(key) == "writer_password_file";
        write_secret(file, "writer-before\n");
        postgres.session().execute("ALTER ROLE writer PASSWORD 'writer-before'");
        bench.set_postgres("writer = 'user=writer'\n" + std::string(key) + " = '" +
                           (is_file ? "" : "cat ") + file.string() + "'\n");
        bench.start();
        relay_one_more();
        EXPECT_TRUE(are_written_back()) << bench.relay().log();
        std::filesystem::remove(file);
        cut_after("ALTER ROLE writer PASSWORD 'writer-after'");
        expect_waiting("with postgres.writer: ");
        EXPECT_TRUE(bench.relay().wait_for_log(std::string("postgres.") + key, patience))
            << bench.relay().log();
        write_secret(file, "writer-after\n");
        relay_one_more();
        EXPECT_TRUE(are_written_back()) << bench.relay().log();
        EXPECT_EQ(bench.relay().log().find("writer-"), std::string::npos);
        bench.stop();
    }
    EXPECT_TRUE(exactly_once_in_order(bench.committed_ids(), bench.events()));
}

/// As that of NATS: the role logs in with its certificate.
TEST_P(DatabaseRotation, ACertificateIsReadAtEachConnect) {
    const tls_files before;
    const tls_files after("another authority");
    const given_files given{bench.folder()};
    given.hold(before);
    ask_for_certificates_of(before);
    bench.set_conninfo(bench.conninfo() + " user=relay sslmode=verify-full sslrootcert=" +
                       given.ca() + " sslcert=" + given.certificate() + " sslkey=" + given.key());
    bench.start();
    relay_one_more();
    ask_for_certificates_of(after);
    cut_after("SELECT");
    expect_waiting("certificate");
    given.hold(after);
    expect_relayed();
}

TEST_P(DatabaseRotation, LockedRoleAndRenamedDatabaseAreWaitedOut) {
    bench.start();
    relay_one_more();
    cut_after("ALTER ROLE relay NOLOGIN");
    expect_waiting("does not let role relay into database " + bench.database());
    const auto renamed = [&](const std::string& from, const std::string& to) {
        postgres.session().execute("ALTER DATABASE " + from + " RENAME TO " + to);
    };
    renamed(bench.database(), "elsewhere");
    postgres.session().execute("ALTER ROLE relay LOGIN");
    expect_waiting("the database " + bench.database() + " does not exist");
    renamed("elsewhere", bench.database());
    expect_relayed();
}

TEST_P(DatabaseRotation, ARoleThatWasNeverLetInEndsTheRelay) {
    give("wrong");
    bench.launch();
    EXPECT_EQ(bench.relay().process().wait_exit(patience), 3);
    EXPECT_TRUE(bench.relay().wait_for_log("refused the password of role relay", 0s));
}

TEST_P(DatabaseRotation, WhatNeverWorkedEndsTheRelayInItsOwnWords) {
    const auto from_file = [&](const char* name) {
        return bench.conninfo() + " user=relay passfile=" + (bench.folder() / name).string();
    };
    struct way_in {
        std::string conninfo;
        const char* words;
    };
    for (const auto& [conninfo, words] : {
             way_in{from_file("nothing"),
                    "PostgreSQL asks for the password of role relay, and there is none"},
             way_in{from_file("passwords") + " sslmode=require",
                    "the server of PostgreSQL offers no TLS, which sslmode requires"},
             way_in{from_file("passwords") + " dbname=nowhere",
                    "the database nowhere does not exist"},
         }) {
        bench.set_conninfo(conninfo);
        bench.launch();
        EXPECT_EQ(bench.relay().process().wait_exit(patience), 3) << bench.relay().log();
        EXPECT_TRUE(bench.relay().wait_for_log(words, 0s)) << bench.relay().log();
    }
}

INSTANTIATE_TEST_SUITE_P(Plugins, DatabaseRotation, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
