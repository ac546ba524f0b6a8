// What is wrong with the schema walrelay and its tables.
#include "core/sql_text.hpp"
#include "postgres/catalog/own_tables.hpp"
#include "postgres/catalog/trusted_roles.hpp"
#include "postgres/session/array_literal.hpp"
#include "postgres/session/sqlstate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace walrelay::postgres {
namespace {

/// What the table holds, and which table it was.
constexpr const char* secret_sql = "SELECT tableoid::text, secret FROM walrelay.control_key";

/// Whether the table $3 stands in the schema of that name, and both belong to who is trusted.
constexpr const char* is_trusted_sql = R"sql(
SELECT FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
 WHERE c.oid = $3::oid AND n.nspname = 'walrelay' AND c.relkind = 'r'
   AND c.relowner IN (SELECT role FROM trusted) AND n.nspowner IN (SELECT role FROM trusted)
)sql";

/// Of each flaw: its kind, the table (none for the schema), a name that belongs to it.
constexpr const char* flaws_sql = R"sql(,
own (oid, name, owner, kind, guarded, acl) AS (
    SELECT c.oid, c.relname::text, c.relowner, c.relkind, c.relrowsecurity, c.relacl
      FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
     WHERE n.nspname = 'walrelay' AND c.relname IN
           ('dead_letter', 'halt', 'partition', 'control', 'control_key', 'slot_start',
            'bookmark', 'trail', 'replay', 'witness'))
SELECT 'schema', '', pg_get_userbyid(nspowner)::text FROM pg_namespace
 WHERE nspname = 'walrelay' AND nspowner NOT IN (SELECT role FROM trusted)
UNION ALL
SELECT 'owner', name, pg_get_userbyid(owner)::text FROM own
 WHERE owner NOT IN (SELECT role FROM trusted)
UNION ALL
SELECT 'kind', name, kind::text FROM own WHERE kind <> 'r'
UNION ALL
SELECT 'trigger', own.name, t.tgname::text
  FROM own JOIN pg_trigger AS t ON t.tgrelid = own.oid AND NOT t.tgisinternal
                                AND t.tgenabled <> 'D'
UNION ALL
SELECT DISTINCT 'follower', own.name, k.conrelid::regclass::text
  FROM own JOIN pg_constraint AS k ON k.confrelid = own.oid AND k.contype = 'f'
  JOIN pg_class AS c ON c.oid = k.conrelid
 WHERE c.relowner NOT IN (SELECT role FROM trusted)
UNION ALL
SELECT 'rule', own.name, r.rulename::text
  FROM own JOIN pg_rewrite AS r ON r.ev_class = own.oid AND r.ev_enabled <> 'D'
 WHERE own.kind = 'r'
UNION ALL
SELECT 'policies', name, '' FROM own WHERE guarded
UNION ALL
SELECT 'everybody', held.name, string_agg(DISTINCT held.privilege, ', ' ORDER BY held.privilege)
  FROM (SELECT own.name, a.grantee, a.privilege_type
          FROM own CROSS JOIN aclexplode(own.acl) AS a
        UNION ALL
        SELECT own.name, a.grantee, a.privilege_type
          FROM own JOIN pg_attribute AS t ON t.attrelid = own.oid
         CROSS JOIN aclexplode(t.attacl) AS a) AS held (name, grantee, privilege)
 WHERE held.grantee = 0 AND (held.privilege <> 'SELECT' OR held.name = 'control_key')
 GROUP BY held.name
UNION ALL
SELECT 'creators', '', string_agg(DISTINCT CASE a.grantee WHEN 0 THEN 'PUBLIC'
                                           ELSE quote_ident(pg_get_userbyid(a.grantee)) END, ', ')
  FROM pg_namespace AS n CROSS JOIN aclexplode(n.nspacl) AS a
 WHERE n.nspname = 'walrelay' AND a.privilege_type = 'CREATE'
   AND a.grantee NOT IN (SELECT role FROM trusted)
HAVING count(*) > 0
)sql";

/// Of a schema or a table that somebody made who is not to be trusted: what else it does nobody can
/// tell, so it is set aside and not taken over.
schema_flaw owned(const std::string& what, const std::string& owner, const std::string& take_over) {
    return {fmt::format("{} belongs to the role {}, which is neither a superuser nor this role nor "
                        "the owner of the database or of an outbox table, nor a member of one of "
                        "them: what is written there could run its code as walrelay",
                        what, owner),
            fmt::format("if you made it: {}; else ALTER SCHEMA walrelay RENAME TO walrelay_before; "
                        "then: walrelay init",
                        take_over)};
}

schema_flaw flaw_of(const std::string& kind, const std::string& table, const std::string& name,
                    const std::string& role) {
    const auto full = "walrelay." + table;
    const auto quoted = quote_identifier(name);
    if (kind == "schema") {
        auto flaw = owned("the schema walrelay", name,
                          "ALTER SCHEMA walrelay OWNER TO " + quote_identifier(role));
        flaw.is_foreign = true;
        return flaw;
    }
    if (kind == "owner") {
        return owned("the table " + full, name,
                     "ALTER TABLE " + full + " OWNER TO " + quote_identifier(role));
    }
    if (kind == "trigger") {
        return {"the table " + full + " has the trigger " + name + ", which would run as walrelay",
                "ALTER TABLE " + full + " DISABLE TRIGGER " + quoted +
                    "; (\\d+ in psql shows what it does, for whoever made it)"};
    }
    if (kind == "follower") {
        return {"the table " + name + " of a role that is not trusted has a foreign key on " +
                    full + ", and what follows a deletion there would run as walrelay",
                "drop the foreign key (\\d in psql shows it: ALTER TABLE " + name +
                    " DROP CONSTRAINT ...), and REVOKE REFERENCES ON " + full +
                    " from the role that made it"};
    }
    if (kind == "rule") {
        return {"the table " + full + " has the rule " + name + ", which would run as walrelay",
                "ALTER TABLE " + full + " DISABLE RULE " + quoted +
                    "; (\\d+ in psql shows what it does, for whoever made it)"};
    }
    if (kind == "policies") {
        return {"the table " + full + " has row-level security, which can hide rows from walrelay",
                "ALTER TABLE " + full + " DISABLE ROW LEVEL SECURITY;"};
    }
    if (kind == "creators") {
        return {name + " may create tables in the schema walrelay, in the place of walrelay's own",
                "REVOKE CREATE ON SCHEMA walrelay FROM " + name + ";"};
    }
    if (kind == "everybody") {
        return {"every role may " + name + " on the table " + full +
                    ", and so have walrelay publish what no outbox holds, or halt",
                "REVOKE " + name + " ON " + full + " FROM PUBLIC;"};
    }
    return {full + " is not an ordinary table",
            "ALTER SCHEMA walrelay RENAME TO walrelay_before; then: walrelay init"};
}

/// As trusted_roles_sql wants them.
std::vector<std::string> lists_of(const std::vector<table_name>& outboxes) {
    auto [schemas, names] = arrays_of(outboxes);
    return {std::move(schemas), std::move(names)};
}

}  // namespace

boost::asio::awaitable<result<std::vector<schema_flaw>>> own_schema_flaws(
    connection& sql, std::vector<table_name> outboxes) {
    auto which = lists_of(outboxes);
    const auto rows =
        co_await sql.query(std::string(trusted_roles_sql) + flaws_sql, std::move(which));
    if (!rows) {
        co_return rows.error();
    }
    std::vector<schema_flaw> flaws;
    for (std::size_t row = 0; row < rows->size(); ++row) {
        flaws.push_back(
            flaw_of(rows->text(row, 0), rows->text(row, 1), rows->text(row, 2), sql.role()));
    }
    const auto foreign = std::ranges::find_if(flaws, &schema_flaw::is_foreign);
    sql.avoid_own_schema(foreign != flaws.end());
    if (foreign != flaws.end()) {
        co_return std::vector<schema_flaw>{*foreign};
    }
    co_return std::move(flaws);
}

boost::asio::awaitable<result<void>> check_own_schema(connection& sql,
                                                      std::vector<table_name> outboxes) {
    const auto flaws = co_await own_schema_flaws(sql, std::move(outboxes));
    if (!flaws) {
        co_return flaws.error();
    }
    if (!flaws->empty() && !flaws->front().is_foreign) {
        const auto& first = flaws->front();
        co_return error{errc::postgres_unsuitable, first.what, first.remedy};
    }
    co_return result<void>{};
}

boost::asio::awaitable<result<std::string>> read_control_secret(connection& sql,
                                                                std::vector<table_name> outboxes) {
    const auto read = co_await sql.ask(secret_sql);
    if (read.has_error()) {
        if (is_missing(read.error()) || read.error().sqlstate == sqlstate::insufficient_privilege) {
            co_return std::string{};
        }
        co_return explain(read.error(), {.action = server_action::query, .role = sql.role()});
    }
    if (read->empty()) {
        co_return std::string{};
    }
    // Asked after it was read, of that very table: a name can change hands in between.
    auto which = lists_of(outboxes);
    which.push_back(read->text(0, 0));
    const auto trusted =
        co_await sql.query(std::string(trusted_roles_sql) + is_trusted_sql, std::move(which));
    if (!trusted) {
        co_return trusted.error();
    }
    co_return trusted->empty() ? std::string{} : read->text(0, 1);
}

}  // namespace walrelay::postgres
