// What needs no server, or what no server can be brought to say.
#include "postgres/session/server_error.hpp"

#include "postgres/session/refusal.hpp"
#include "postgres/session/stream_warning.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace walrelay::postgres {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

server_context streaming() {
    return {.action = server_action::stream, .slot = "s", .publication = "p"};
}

TEST(ServerError, KeepsTheWordsOfTheServerInOneLine) {
    const auto failure = explain({"XX000", "it broke\n", "in two\nlines"}, streaming());
    EXPECT_EQ(failure.server_said, "it broke ; in two lines");
}

TEST(ServerError, EndsTheStreamWhereAWarningTellsOfRowsThatAreLeftOut) {
    auto context = streaming();
    context.plugin = output_plugin::pgoutput;
    const server_report warning{"55000", "skipped loading publication \"p\"", "", "",
                                "LoadPublications"};
    const auto failure = explain_warning(warning, context);
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->code, errc::postgres_unsuitable);
    EXPECT_THAT(failure->what, HasSubstr("publication p is missing, or younger than the slot s"));
    EXPECT_THAT(failure->remedy, HasSubstr("--switch-plugin"));
    // In any language, and by any function.
    EXPECT_TRUE(explain_warning({"55000", "Publikation \"p\" wird ausgelassen"}, context));
    EXPECT_FALSE(explain_warning({"55000", "publication \"q\""}, context));
    EXPECT_FALSE(explain_warning({"01000", "the disk is full of \"p\""}, context));
    context.plugin = output_plugin::wal2json;
    EXPECT_FALSE(explain_warning(warning, context));
}

TEST(ServerError, TellsARoleThatIsNotLetInFromAServerThatIsAway) {
    const server_context context{
        .action = server_action::connect_sql, .role = "relay", .database = "shop"};
    for (const auto* const code : {"28P01", "28000", "3D000", "42501"}) {
        const auto failure = explain({code, "no"}, context);
        EXPECT_EQ(failure.code, errc::postgres_refused) << code;
        EXPECT_FALSE(failure.remedy.empty()) << code;
    }
    EXPECT_THAT(explain({"28P01", "no"}, context).remedy,
                HasSubstr("ALTER ROLE \"relay\" VALID UNTIL '<date>'"));
    for (const auto* const code : {"53300", "57P03", "55000", ""}) {
        EXPECT_EQ(explain({code, "not now"}, context).code, errc::postgres_unavailable) << code;
    }
    EXPECT_EQ(explain({"53300", "sorry, too many clients already"}, context).what,
              "PostgreSQL has no free connection for role relay");
}

TEST(ServerError, CallsAwayOnlyWhereNobodyHasAnswered) {
    const server_context context{
        .action = server_action::connect_replication, .role = "relay", .database = "shop"};
    struct answer {
        server_report report;
        const char* what;
        errc code;
    };
    const answer answers[] = {
        {{"", "connection to server at \"h\", port 1 failed: Connection refused"},
         "PostgreSQL cannot be reached",
         errc::postgres_unavailable},
        {{"", "connection to server at \"h\" failed: fe_sendauth: no password supplied"},
         "asks for the password of role relay",
         errc::postgres_refused},
        {{"",
          "connection to server at \"h\" failed: server does not support SSL, but SSL was "
          "required"},
         "offers no TLS",
         errc::postgres_refused},
        {{"", "connection to server failed: FATAL:  unsupported startup parameter: replication"},
         "a pooler answers",
         errc::postgres_refused},
        {{"", "connection to server failed: FATAL:  no such database: shop"},
         "knows no database shop",
         errc::postgres_refused},
        {{"", "connection to server failed: SSL error: certificate verify failed"},
         "is not of an authority",
         errc::postgres_refused},
        {{"", "root certificate file \"/r/root.crt\" does not exist"},
         "the file of the authority",
         errc::postgres_refused},
        {{"", "could not load private key file \"/r/k\": bad decrypt"},
         "asks nobody for it",
         errc::postgres_refused},
        {{"", "private key file \"/r/k\" has group or world access"},
         "others can read the key",
         errc::postgres_refused},
        {{"", "SSL error: tlsv13 alert certificate required"},
         "demands a certificate of the client",
         errc::postgres_refused},
        {{"28000", "connection requires a valid client certificate"},
         "demands a certificate of the client",
         errc::postgres_refused},
        {{"", "server certificate for \"a\" does not match host name \"b\""},
         "is for another host name",
         errc::postgres_refused},
        {{"57P03", "the database system is starting up"},
         "did not take the connection",
         errc::postgres_unavailable},
        {{"", "connection to server failed: FATAL:  pgbouncer cannot connect to server"},
         "did not take the connection",
         errc::postgres_unavailable}};
    for (const auto& each : answers) {
        const auto failure = explain(each.report, context);
        EXPECT_THAT(failure.what, HasSubstr(each.what));
        EXPECT_EQ(failure.code, each.code) << failure.what;
        EXPECT_EQ(failure.remedy.empty(), each.code == errc::postgres_unavailable) << failure.what;
    }
}

TEST(ServerError, RefusesPoolersThatCarryNoReplicationInTheirOwnWords) {
    const server_context context{.action = server_action::connect_replication, .role = "relay"};
    const auto* const words = "RDS Proxy currently doesn't support streaming replication mode";
    const auto* const libpq = "connection to server failed: FATAL:  Feature not supported: ";
    for (const auto& report :
         {server_report{"0A000", words}, server_report{"", std::string(libpq) + words}}) {
        const auto failure = explain(report, context);
        EXPECT_EQ(failure.code, errc::postgres_refused) << failure.what;
        EXPECT_THAT(failure.what, HasSubstr("a pooler answers"));
        EXPECT_THAT(failure.remedy, HasSubstr("connect past the pooler"));
    }
    const auto* const away =
        "connection to server at \"replication.support.example\" failed: timeout expired";
    EXPECT_EQ(explain({"", away}, context).code, errc::postgres_unavailable);
}

TEST(Refusal, SortsWhatPassesWhatWaitsAndWhatSomebodyMustDecide) {
    struct sorted {
        outlook what;
        std::vector<const char*> codes;
    };
    const sorted all[] = {
        {outlook::passes,
         {"", "08006", "25P03", "25P04", "40001", "40P01", "55P03", "55006", "57014", "57P01",
          "57P05", "72000", "HV00N", "XX000", "ZZ999"}},
        {outlook::waits, {"25006", "53100", "53200", "53300", "58030"}},
        {outlook::of_a_row,
         {"22001", "22P02", "23502", "23505", "23514", "27000", "44000", "P0001", "P0004"}},
        {outlook::decided_by_operator,
         {"0A000", "21000", "26000", "28000", "2F003", "38001", "39004", "3D000", "3F000", "42501",
          "42P01", "53400", "54000"}}};
    for (const auto& each : all) {
        const bool refused =
            each.what == outlook::of_a_row || each.what == outlook::decided_by_operator;
        for (const auto* const code : each.codes) {
            EXPECT_EQ(outlook_for(code), each.what) << code;
            EXPECT_EQ(comes_back(code), refused) << code;
            const auto of_a_query = explain({code, "no"}, {.role = "relay"});
            EXPECT_EQ(of_a_query.code, refused ? errc::postgres_unsuitable : errc::postgres_lost)
                << code;
        }
    }
}

TEST(Refusal, IsSortedTheSameWhereverASlotIsMadeOrRead) {
    for (const auto action :
         {server_action::create_slot, server_action::start_streaming, server_action::stream}) {
        for (const auto* const code :
             {"53100", "53200", "53300", "53400", "40001", "57P01", "54000"}) {
            const auto failure = explain({code, "no"}, {.action = action, .slot = "s"});
            EXPECT_EQ(failure.code,
                      comes_back(code) ? errc::postgres_unsuitable : errc::postgres_lost)
                << code << ": " << failure.what;
        }
    }
}

TEST(Refusal, SaysWhatKeepsTheServerFromIt) {
    const auto of_code = [](const char* code) { return explain({code, "no"}, {}); };
    EXPECT_THAT(of_code("25006").what, HasSubstr("takes no writes"));
    EXPECT_THAT(of_code("25006").remedy, HasSubstr("default_transaction_read_only"));
    EXPECT_THAT(of_code("53100").what, HasSubstr("disk of PostgreSQL is full"));
    EXPECT_EQ(of_code("XX000").what, "PostgreSQL ended a query") << "it has answered";
    EXPECT_THAT(of_code("").what, HasSubstr("was not answered"));
    const error failure{errc::postgres_lost, "no row was deleted", "wait", "no"};
    EXPECT_EQ(with_state_behind(failure, {"53100", "no"}).what,
              "no row was deleted: the disk of PostgreSQL is full");
    EXPECT_EQ(with_state_behind(failure, {"XX000", "no"}).remedy, "wait");
}

TEST(Refusal, SaysItWhereverSomethingIsMade) {
    for (const auto action : {server_action::create_publication, server_action::create_slot}) {
        const auto failure = explain({"25006", "no"}, {.action = action, .slot = "s"});
        EXPECT_EQ(failure.code, errc::postgres_lost);
        EXPECT_THAT(failure.what, HasSubstr("PostgreSQL takes no writes"));
        EXPECT_THAT(failure.remedy, HasSubstr("default_transaction_read_only"));
    }
}

TEST(ServerError, LeadsAroundAnEventTrigger) {
    const auto failure = explain({"P0001", "DDL only through migrations"},
                                 {.action = server_action::create_publication});
    EXPECT_EQ(failure.code, errc::postgres_unsuitable);
    EXPECT_THAT(failure.remedy, HasSubstr("walrelay init --print"));
}

TEST(ServerError, TakesAnInternalErrorOfAStreamForALoss) {
    EXPECT_EQ(explain({"XX000", "out of luck"}, streaming()).code, errc::postgres_lost);
    EXPECT_EQ(explain({"57P01", "going down"}, streaming()).code, errc::postgres_lost);
    EXPECT_EQ(explain({"53200", "out of memory"}, streaming()).code, errc::postgres_lost);
    EXPECT_EQ(explain({"", "SSL SYSCALL error: EOF detected"}, streaming()).code,
              errc::postgres_lost);
}

TEST(ServerError, TakesWhatComesBackForeverForUnsuitable) {
    EXPECT_EQ(explain({"54000", "invalid memory alloc"}, streaming()).code,
              errc::postgres_unsuitable);
    EXPECT_EQ(explain({"22021", "invalid byte sequence"}, streaming()).code,
              errc::postgres_unsuitable);
}

TEST(ServerError, TellsTheWayPastARowThatWal2jsonCannotWrite) {
    auto context = streaming();
    context.plugin = output_plugin::wal2json;
    const server_report buffer{"54000", "out of memory",
                               "Cannot enlarge string buffer containing 1073741820 bytes by 6 more",
                               "slot \"s\", output plugin \"wal2json\", in the change callback, "
                               "associated LSN 0/16B3748"};
    const auto failure = explain(buffer, context);
    EXPECT_EQ(failure.code, errc::postgres_unsuitable);
    EXPECT_THAT(failure.what, HasSubstr("at LSN 0/16B3748 of the WAL"));
    EXPECT_THAT(failure.remedy, HasSubstr("walrelay init --switch-plugin"));
    const auto memory = explain({"XX000", "invalid memory alloc request size 1140850699"}, context);
    EXPECT_EQ(memory.code, errc::postgres_unsuitable) << "it comes back for ever";
    EXPECT_THAT(explain(buffer, streaming()).remedy, HasSubstr("walrelay verify"));
}

TEST(ServerError, TakesRemovedWalForALostSlot) {
    const auto failure =
        explain({"58P01", "requested WAL segment 0000 has already been removed"}, streaming());
    EXPECT_EQ(failure.code, errc::postgres_unsuitable);
    EXPECT_THAT(failure.remedy, HasSubstr("walrelay resume --heal"));
    EXPECT_THAT(failure.remedy, Not(HasSubstr("pg_drop_replication_slot")));
}

TEST(ServerError, DecidesBySqlstateWhateverTheLanguage) {
    const auto failure = explain({"42704", "Publikation »p« existiert nicht"}, streaming());
    EXPECT_THAT(failure.what, HasSubstr("the publication p is missing, or younger"));
}

TEST(ServerError, NamesThePackageOfWal2json) {
    const auto failure = explain({"58P01", "could not access file \"wal2json\": No such file"},
                                 {.action = server_action::create_slot,
                                  .plugin = output_plugin::wal2json,
                                  .version_number = 170'004});
    EXPECT_EQ(failure.code, errc::postgres_unsuitable);
    EXPECT_THAT(failure.remedy, HasSubstr("apt-get install postgresql-17-wal2json"));
    EXPECT_THAT(failure.remedy, HasSubstr("postgres.plugin = \"pgoutput\""));
}

TEST(ServerError, DoesNotTakeAMissingRoleAttributeForARefusedPlugin) {
    const auto failure = explain(
        {"42501", "must be superuser or replication role"},
        {.action = server_action::create_slot, .role = "r", .plugin = output_plugin::wal2json});
    EXPECT_THAT(failure.remedy, StartsWith("ALTER ROLE \"r\" REPLICATION;"));
}

TEST(ServerError, SendsUsersOfAManagedServiceToTheCheck) {
    const auto remedy = [](const char* code, const char* words, server_action action) {
        return explain(
                   {code, words},
                   {.action = action, .role = "r", .slot = "s", .plugin = output_plugin::wal2json})
            .remedy;
    };
    using enum server_action;
    for (const auto& each :
         {remedy("42501", "must be superuser", connect_replication),
          remedy("42501", "must be superuser", create_slot),
          remedy("42501", "must be superuser", start_streaming),
          remedy("53400", "all replication slots are in use", create_slot),
          remedy("55000", "logical decoding requires wal_level >= logical", create_slot),
          remedy("58P01", "could not access file \"wal2json\"", create_slot),
          remedy("42501", "\"wal2json\" may not be used as an output plugin", create_slot)}) {
        EXPECT_THAT(each, HasSubstr("managed service"));
        EXPECT_THAT(each, HasSubstr("walrelay check names"));
    }
}

TEST(ServerError, NamesTlsWhereItWasNotTriedAndMayLetTheRoleIn) {
    const auto remedy = [](const char* words) {
        return explain({"28000", words}, {.action = server_action::connect_sql, .role = "r"})
            .remedy;
    };
    const auto* const entry = "no pg_hba.conf entry for host \"h\", user \"r\", database \"d\", ";
    const std::string begins = entry;
    EXPECT_THAT(remedy((begins + "no encryption").c_str()), HasSubstr("sslmode=require"));
    EXPECT_THAT(remedy((begins + "SSL off").c_str()), HasSubstr("sslmode=require"));
    for (const auto& tried :
         {begins + "SSL encryption", begins + "SSL encryption " + begins + "no encryption"}) {
        EXPECT_THAT(remedy(tried.c_str()), HasSubstr("pg_hba.conf"));
        EXPECT_THAT(remedy(tried.c_str()), Not(HasSubstr("sslmode"))) << tried;
    }
}

TEST(ServerError, ReadsTheSqlstateOutOfAFailedConnection) {
    const auto report = report_of_failed_connection(
        "connection to server at \"127.0.0.1\", port 5432 failed: FATAL:  28P01: password "
        "authentication failed for user \"x\"\nLOCATION:  auth_failed, auth.c:338\n");
    EXPECT_EQ(report.sqlstate, "28P01");
    EXPECT_EQ(report.message,
              "connection to server at \"127.0.0.1\", port 5432 failed: FATAL:  password "
              "authentication failed for user \"x\"");
}

TEST(ServerError, FindsNoSqlstateInAnErrorOfTheNetwork) {
    const auto report = report_of_failed_connection(
        "connection to server at \"h\" (1.2.3.4), port 1 failed: Connection refused\n\tIs the "
        "server running on that host and accepting TCP/IP connections?\n");
    EXPECT_EQ(report.sqlstate, "");
    EXPECT_THAT(report.message, HasSubstr("refused Is the server"));
}

TEST(ServerError, HoldsAStartingServerForUnavailable) {
    const auto failure = explain({"57P03", "the database system is starting up"},
                                 {.action = server_action::connect_sql});
    EXPECT_EQ(failure.code, errc::postgres_unavailable);
}

}  // namespace
}  // namespace walrelay::postgres
