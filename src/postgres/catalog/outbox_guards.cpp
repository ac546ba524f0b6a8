#include "postgres/catalog/outbox_guards.hpp"

#include "postgres/catalog/foreign_code.hpp"
#include "postgres/catalog/trusted_roles.hpp"
#include "postgres/catalog/writer_powers.hpp"
#include "postgres/session/array_literal.hpp"
#include "postgres/session/fact_reader.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace walrelay::postgres {
namespace {

using boost::asio::awaitable;

/// Which commands row-level security can hide rows of the tables from, in this role's hands: those
/// for which no permissive policy lets all rows through, or a restrictive one does not.
constexpr const char* hidden_rows_sql = R"sql(
WITH policies AS (
    SELECT polrelid, polcmd, polpermissive, coalesce(pg_get_expr(polqual, polrelid), 'true') AS lets
      FROM pg_policy
     WHERE EXISTS (SELECT FROM unnest(polroles) AS role (oid)
                    WHERE CASE WHEN role.oid = 0 THEN true
                               ELSE pg_has_role(role.oid, 'USAGE') END))
SELECT asked.place - 1, command.name
  FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS asked (schema, name, place)
  JOIN pg_namespace AS n ON n.nspname = asked.schema
  JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = asked.name
   AND c.relkind IN ('r', 'p')
 CROSS JOIN (VALUES (1, 'r', 'SELECT'), (2, 'w', 'UPDATE'), (3, 'd', 'DELETE'))
       AS command (place, letter, name)
 WHERE row_security_active(c.oid)
   AND (NOT EXISTS (SELECT FROM policies AS p
                     WHERE p.polrelid = c.oid AND p.polpermissive AND p.lets = 'true'
                       AND p.polcmd IN ('*', command.letter))
        OR EXISTS (SELECT FROM policies AS p
                    WHERE p.polrelid = c.oid AND NOT p.polpermissive AND p.lets <> 'true'
                      AND p.polcmd IN ('*', command.letter)))
 ORDER BY asked.place, command.place
)sql";

constexpr const char* message_writers_sql = R"sql(
SELECT DISTINCT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END
  FROM pg_proc AS f
 CROSS JOIN aclexplode(coalesce(f.proacl, acldefault('f', f.proowner))) AS a
 WHERE f.proname = 'pg_logical_emit_message' AND f.pronamespace = 'pg_catalog'::regnamespace
   AND a.grantee <> f.proowner
 ORDER BY 1
)sql";

/// What it takes to leave rows of dead letters alone, and what a mark does.
constexpr const char* rights_of_writer_sql = R"sql(
WITH own (name, has) AS (
    SELECT c.relname,
           array(SELECT privilege FROM unnest(ARRAY['SELECT', 'INSERT', 'DELETE']) AS privilege
                             WHERE has_schema_privilege(n.oid, 'USAGE')
                               AND has_table_privilege(c.oid, privilege))
      FROM pg_namespace AS n JOIN pg_class AS c ON c.relnamespace = n.oid
     WHERE n.nspname = 'walrelay')
SELECT EXISTS (SELECT FROM own WHERE name = 'dead_letter' AND has @> ARRAY['SELECT']),
       EXISTS (SELECT FROM own
                WHERE name = 'control' AND has @> ARRAY['SELECT', 'INSERT', 'DELETE'])
       AND EXISTS (SELECT FROM own WHERE name = 'control_key' AND has @> ARRAY['SELECT'])
)sql";

std::vector<std::string> places_of(const std::vector<table_facts>& tables) {
    auto [schemas, names] = arrays_of(tables, &table_facts::table);
    return {std::move(schemas), std::move(names)};
}

std::optional<error> read_hidden(const row_set& rows, std::vector<table_facts>& tables,
                                 std::vector<std::string> table_facts::*into) {
    fact_reader reader{rows};
    for (std::size_t row = 0; row < rows.size(); ++row) {
        const auto place = reader.number<std::size_t>(row, 0);
        if (place < tables.size()) {
            (tables[place].*into).push_back(rows.text(row, 1));
        }
    }
    return reader.failure();
}

/// From whichever role the session has.
awaitable<result<void>> find_hidden_rows(connection& sql, std::vector<table_facts>& tables,
                                         std::vector<std::string> table_facts::*into) {
    auto which = places_of(tables);
    const auto hidden = co_await sql.query(hidden_rows_sql, std::move(which));
    if (!hidden) {
        co_return hidden.error();
    }
    const auto failure = read_hidden(*hidden, tables, into);
    co_return failure ? result<void>{*failure} : result<void>{};
}

awaitable<result<void>> inspect_writer(connection& sql, connection& writer, postgres_facts& facts) {
    auto which = places_of(facts.tables);
    facts.writer.emplace();
    facts.writer->role = writer.role();
    which.push_back(facts.writer->role);
    const auto powers = co_await sql.query(
        trusted_roles_sql + fmt::format(fmt::runtime(writer_powers_sql), "$3"), std::move(which));
    if (!powers) {
        co_return powers.error();
    }
    for (std::size_t row = 0; row < powers->size(); ++row) {
        facts.writer->powers.push_back(powers->text(row, 0));
    }
    const auto rights = co_await writer.query(rights_of_writer_sql);
    if (!rights) {
        co_return rights.error();
    }
    facts.writer->knows_letters = rights->flag(0, 0);
    facts.writer->marks = rights->flag(0, 1);
    co_return co_await find_hidden_rows(writer, facts.tables, &table_facts::hidden_from_writer);
}

std::vector<std::string>& list_of(const std::string& kind, table_facts& of) {
    return kind == "maker"     ? of.trigger_makers
           : kind == "trigger" ? of.foreign_triggers
           : kind == "default" ? of.foreign_defaults
           : kind == "reading" ? of.foreign_reading
                               : of.foreign_code;
}

std::optional<error> read_code(const row_set& rows, std::vector<table_facts>& tables) {
    fact_reader reader{rows};
    for (std::size_t row = 0; row < rows.size(); ++row) {
        const auto place = reader.number<std::size_t>(row, 0);
        if (place < tables.size()) {
            list_of(rows.text(row, 1), tables[place]).push_back(rows.text(row, 2));
        }
    }
    return reader.failure();
}

}  // namespace

awaitable<result<void>> inspect_guards(connection& sql, connection* writer, postgres_facts& facts) {
    auto hidden = co_await find_hidden_rows(sql, facts.tables, &table_facts::hidden_from);
    if (!hidden) {
        co_return hidden;
    }
    auto which = places_of(facts.tables);
    const auto code =
        co_await sql.query(std::string(trusted_roles_sql) + foreign_code_sql, std::move(which));
    if (!code) {
        co_return code.error();
    }
    if (auto failure = read_code(*code, facts.tables)) {
        co_return *failure;
    }
    const auto writers = co_await sql.query(message_writers_sql);
    if (!writers) {
        co_return writers.error();
    }
    for (std::size_t row = 0; row < writers->size(); ++row) {
        facts.message_writers.push_back(writers->text(row, 0));
    }
    if (writer == nullptr) {
        co_return result<void>{};
    }
    co_return co_await inspect_writer(sql, *writer, facts);
}

}  // namespace walrelay::postgres
