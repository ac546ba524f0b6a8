#include "postgres/session/connect_error.hpp"

#include "core/pooler_words.hpp"
#include "core/sql_text.hpp"
#include "postgres/session/sqlstate.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace walrelay::postgres {
namespace {

error refused(std::string what, std::string remedy) {
    return {errc::postgres_refused, std::move(what), std::move(remedy)};
}

error explain_password(const server_context& context) {
    const auto role = quote_identifier(context.role);
    return refused(
        fmt::format("PostgreSQL refused the password of role {}", context.role),
        fmt::format(
            "write the right password into ~/.pgpass, the passfile of postgres.conninfo or "
            "postgres.password_file (postgres.writer_password_file, for postgres.writer), each of "
            "which is read again at every try (one in postgres.conninfo or PGPASSWORD takes a "
            "restart). If the password has expired (SELECT "
            "rolvaliduntil FROM "
            "pg_roles), set a new one with \\password {0} in psql, and ALTER ROLE {0} VALID "
            "UNTIL '<date>'",
            role));
}

/// Perhaps pg_hba.conf lets the role in with TLS alone, as where a service enforces it. Both words
/// stand there where TLS was tried before and is not let in either. Source: PostgreSQL,
/// src/backend/libpq/auth.c.
bool may_want_tls(const server_report& report) {
    const auto says_one = [&](std::string_view without, std::string_view with) {
        return mentions(report, without) && !mentions(report, with);
    };
    return says_one("no encryption", "SSL encryption") || says_one("SSL off", "SSL on");
}

error explain_authorization(const server_report& report, const server_context& context) {
    const auto what = fmt::format("PostgreSQL does not let role {} into database {} from here",
                                  context.role, context.database);
    const auto* const with_tls =
        may_want_tls(report)
            ? "where the server lets nobody in without TLS (rds.force_ssl of Amazon RDS, for one): "
              "sslmode=require in postgres.conninfo, or verify-full with sslrootcert; else "
            : "";
    return refused(what, fmt::format("{}create the role, ALTER ROLE {} LOGIN; or add a line for it "
                                     "to pg_hba.conf and: SELECT pg_reload_conf();",
                                     with_tls, quote_identifier(context.role)));
}

error explain_no_connection_left(const server_context& context) {
    return {errc::postgres_unavailable,
            fmt::format("PostgreSQL has no free connection for role {}", context.role),
            "end connections that nobody needs, or raise the limit that PostgreSQL names"};
}

error explain_missing_right(const server_context& context) {
    if (context.action == server_action::connect_replication) {
        return refused(fmt::format("the role {} may not replicate", context.role),
                       how_to_let_replicate(context.role));
    }
    return refused(
        fmt::format("the role {} may not connect to database {}", context.role, context.database),
        fmt::format("GRANT CONNECT ON DATABASE {} TO {};", quote_identifier(context.database),
                    quote_identifier(context.role)));
}

error explain_missing_password(const server_context& context) {
    return refused(
        fmt::format("PostgreSQL asks for the password of role {}, and there is none", context.role),
        "put it into postgres.password_file, name a postgres.password_command, or write it into "
        "~/.pgpass or the passfile of postgres.conninfo; each is read again at every try");
}

struct known_words {
    std::string_view of_libpq;
    const char* what;
    const char* remedy;
};

/// Of certificates and of TLS. The words are libpq's own, or a server's that gives all of them one
/// SQLSTATE.
constexpr std::array tls_words = {
    known_words{"server does not support SSL",
                "the server of PostgreSQL offers no TLS, which sslmode requires",
                "ssl = on in the server's configuration; or, where nobody else is on the way, "
                "sslmode=prefer in postgres.conninfo"},
    known_words{"certificate verify failed",
                "the server's certificate is not of an authority that sslrootcert names, or is not "
                "valid now",
                "sslrootcert=<file of the authority> in postgres.conninfo; see the dates of the "
                "certificate"},
    known_words{"root certificate file",
                "the file of the authority that signs the server's certificate is missing",
                "sslrootcert=<file of the authority> in postgres.conninfo, or sslrootcert=system "
                "with libpq 16 and newer"},
    known_words{"could not load private key file",
                "the key of the client's certificate cannot be read; an encrypted one takes its "
                "passphrase from the conninfo, as walrelay asks nobody for it",
                "sslpassword=<passphrase> in postgres.conninfo, or write the key without one: "
                "openssl pkey -in <file> -out <file>"},
    known_words{"has group or world access",
                "others can read the key of the client's certificate, so that libpq does not use "
                "it",
                "chmod 0600 on the file of sslkey, or 0640 where it belongs to root"},
    known_words{"certificate required",
                "the server of PostgreSQL demands a certificate of the client",
                "sslcert=<file> sslkey=<file> in postgres.conninfo, of an authority that the "
                "server's ssl_ca_file names"},
    known_words{"requires a valid client certificate",
                "the server of PostgreSQL demands a certificate of the client",
                "sslcert=<file> sslkey=<file> in postgres.conninfo, of an authority that the "
                "server's ssl_ca_file names"},
    known_words{"does not match host name", "the server's certificate is for another host name",
                "name the server in postgres.conninfo as its certificate does"},
};

std::optional<error> explain_tls(const server_report& report) {
    for (const auto& each : tls_words) {
        if (mentions(report, each.of_libpq)) {
            return refused(each.what, each.remedy);
        }
    }
    return std::nullopt;
}

/// A server takes replication connections or lacks a right or a free process for them; only what is
/// in between calls them unknown, or a feature that it lacks. Sources: pgbouncer's src/client.c;
/// AWS, RDS User Guide, on trouble with RDS Proxy ("Feature not supported: RDS Proxy currently
/// doesn't support streaming replication mode").
bool is_of_a_pooler(const server_report& report, const server_context& context) {
    if (mentions(report, "unsupported startup parameter")) {
        return true;
    }
    // Before it are names of hosts, which may be anything.
    const auto said = report.message.find("FATAL:");
    const std::string_view words =
        std::string_view(report.message).substr(said == std::string::npos ? 0 : said);
    const auto has = [&](std::string_view each) {
        return words.find(each) != std::string_view::npos;
    };
    const bool is_said = !report.sqlstate.empty() || said != std::string::npos;
    return context.action == server_action::connect_replication &&
           (report.sqlstate == sqlstate::feature_not_supported ||
            (is_said && has("replication") && has("support")));
}

/// Words of libpq and of poolers, which have no code of their own for it. Sources: libpq's
/// fe-auth.c, fe-connect.c and fe-secure-openssl.c; pgbouncer's src/client.c.
std::optional<error> explain_known_words(const server_report& report,
                                         const server_context& context) {
    if (mentions(report, "no password supplied")) {
        return explain_missing_password(context);
    }
    if (is_of_a_pooler(report, context)) {
        return refused("a pooler answers in PostgreSQL's place, and takes no replication",
                       how_past_the_pooler);
    }
    if (mentions(report, "no such database")) {
        return refused(
            fmt::format("a pooler answers in PostgreSQL's place, and knows no database {}",
                        context.database),
            how_past_the_pooler);
    }
    return explain_tls(report);
}

}  // namespace

error explain_connect(const server_report& report, const server_context& context) {
    const auto& code = report.sqlstate;
    if (mentions(report, "requires a valid client certificate")) {
        return *explain_tls(report);
    }
    if (code == sqlstate::invalid_password) {
        return explain_password(context);
    }
    if (code == sqlstate::invalid_authorization) {
        return explain_authorization(report, context);
    }
    if (code == sqlstate::invalid_catalog_name) {
        return refused(fmt::format("the database {} does not exist", context.database),
                       "set dbname in postgres.conninfo to the outbox's database and start again, "
                       "or give it its name back: ALTER DATABASE ... RENAME TO ...;");
    }
    if (code == sqlstate::insufficient_privilege) {
        return explain_missing_right(context);
    }
    if (code == sqlstate::too_many_connections) {
        return explain_no_connection_left(context);
    }
    if (auto known = explain_known_words(report, context)) {
        return *std::move(known);
    }
    // A code, or the word FATAL before its words, comes from who has answered.
    const bool answered = !code.empty() || mentions(report, "FATAL:");
    return {errc::postgres_unavailable,
            answered ? "PostgreSQL did not take the connection" : "PostgreSQL cannot be reached"};
}

}  // namespace walrelay::postgres
