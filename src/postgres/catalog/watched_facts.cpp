#include "postgres/catalog/watched_facts.hpp"

#include "postgres/catalog/foreign_code.hpp"
#include "postgres/catalog/slot_usage.hpp"
#include "postgres/catalog/trusted_roles.hpp"
#include "postgres/catalog/writer_powers.hpp"
#include "postgres/session/array_literal.hpp"
#include "postgres/session/fact_reader.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <string_view>
#include <utility>

namespace walrelay::postgres {
namespace {

/// Publications of whole schemas came with PostgreSQL 15. {0} is the schema of a table, {1} the
/// publication.
constexpr std::string_view schema_is_sent =
    "EXISTS (SELECT FROM pg_publication_namespace AS s WHERE s.pnpubid = {1}.oid AND s.pnnspid = "
    "{0}.relnamespace)";
constexpr int version_of_schemas_published = 150000;

/// What a change of the server would show in: whatever takes a transaction id, and every change of
/// a catalog, is in the WAL; what is not there are the settings, the slots and who reads them. The
/// WAL counts that is written and not yet flushed, as a commit need not wait for that
/// (synchronous_commit = off).
constexpr std::string_view change_sign_sql = R"sql(
SELECT concat_ws(' ', pg_current_wal_insert_lsn(), pg_postmaster_start_time(),
                 pg_conf_load_time(), (SELECT count(*) FROM pg_stat_get_wal_senders()),
                 (SELECT string_agg(concat_ws(' ', slot_name, slot_type, plugin, restart_lsn,
                                              wal_status, active, to_jsonb(s) ->> 'failover'),
                                    ',' ORDER BY slot_name)
                    FROM pg_replication_slots AS s))
 WHERE NOT pg_is_in_recovery()
)sql";

/// $1 schemas, $2 names, $3 the publication, $4 the oids that are known, $5 the role of
/// postgres.writer, $6 the slot. {0} stands for schema_is_sent, {1} to {3} for trusted_roles_sql,
/// foreign_code_sql and writer_powers_sql, {4} for slot_usage_sql, {5} for change_sign_sql. prqual
/// and prattrs came with PostgreSQL 15, pubgencols with 18, so they are read by way of jsonb. A
/// partition is sent with what it belongs to, a table that inherits only by its own name. The
/// columns that every table has are written when it is made, and never again.
constexpr std::string_view watch_sql = R"sql(
WITH RECURSIVE code (place, kind, name) AS ({1}{2}), powers (what) AS ({1}{3}),
publication AS (
    SELECT p.*, p.xmin::text AS version FROM pg_publication AS p WHERE p.pubname = $3),
asked AS (
    SELECT a.place, a.known, c.oid, c.relname, c.relnamespace, c.relkind, c.relpersistence,
           (SELECT ctid.xmin FROM pg_attribute AS ctid
             WHERE ctid.attrelid = c.oid AND ctid.attnum = -1) AS made_in
      FROM unnest($1::text[], $2::text[], $4::oid[])
           WITH ORDINALITY AS a (schema, name, known, place)
      LEFT JOIN (pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace)
        ON n.nspname = a.schema AND c.relname = a.name),
tree (place, relid, name, namespace, kind, persistence, is_part, is_root, sent, entry, filtered,
      column_list, born_sent) AS (
    SELECT c.place, c.oid, c.relname, c.relnamespace, c.relkind, c.relpersistence, true, true,
           coalesce(p.puballtables OR r.oid IS NOT NULL OR {0}, false),
           r.oid, to_jsonb(r) ->> 'prqual' IS NOT NULL, to_jsonb(r) ->> 'prattrs',
           coalesce(r.xmin = c.made_in, false)
      FROM asked AS c LEFT JOIN publication AS p ON true
      LEFT JOIN pg_publication_rel AS r ON r.prpubid = p.oid AND r.prrelid = c.oid
     WHERE c.oid IS NOT NULL
    UNION ALL
    SELECT t.place, c.oid, c.relname, c.relnamespace, c.relkind, c.relpersistence,
           t.is_part AND c.relispartition, false,
           (t.sent AND c.relispartition)
               OR coalesce(p.puballtables OR r.oid IS NOT NULL OR {0}, false),
           r.oid, to_jsonb(r) ->> 'prqual' IS NOT NULL, to_jsonb(r) ->> 'prattrs', false
      FROM tree AS t JOIN pg_inherits AS i ON i.inhparent = t.relid
      JOIN pg_class AS c ON c.oid = i.inhrelid
      LEFT JOIN publication AS p ON true
      LEFT JOIN pg_publication_rel AS r ON r.prpubid = p.oid AND r.prrelid = c.oid),
found AS (
    SELECT t.place,
           bool_or(t.persistence = 'u') FILTER (WHERE t.is_part) AS unlogged,
           coalesce(bool_and(t.sent) FILTER (WHERE t.is_part AND t.kind <> 'p'),
                    bool_or(t.sent)) AS published,
           bool_or(t.filtered) FILTER (WHERE t.is_part) AS filtered,
           max(t.entry::int8) FILTER (WHERE t.is_root) AS entry,
           max(t.column_list) FILTER (WHERE t.is_root) AS column_list,
           bool_or(t.born_sent) AS born_sent,
           string_agg(concat_ws(' ', t.relid, t.namespace, t.name), ', ' ORDER BY t.relid)
               FILTER (WHERE NOT t.is_root) AS members
      FROM tree AS t GROUP BY t.place)
SELECT coalesce(a.oid, 0), coalesce(a.relkind::text, ''), coalesce(f.unlogged, false),
       coalesce(f.published, false), coalesce(f.filtered, false), coalesce(f.entry, 0),
       coalesce(f.members, ''),
       coalesce((SELECT string_agg(concat_ws(' ', quote_ident(c.attname), c.atttypid, c.atttypmod),
                                   ', ' ORDER BY c.attnum)
                   FROM pg_attribute AS c
                  WHERE c.attrelid = a.oid AND c.attnum > 0 AND NOT c.attisdropped), ''),
       concat_ws(', ', CASE WHEN has_table_privilege(a.oid, 'SELECT') THEN 'SELECT' END,
                 CASE WHEN has_table_privilege(a.oid, 'UPDATE') THEN 'UPDATE' END,
                 CASE WHEN has_table_privilege(a.oid, 'DELETE') THEN 'DELETE' END,
                 CASE WHEN row_security_active(a.oid) THEN 'row-level security' END),
       o.nspname, o.relname,
       coalesce(p.oid, 0), coalesce(p.version, ''), coalesce(p.pubinsert, false),
       coalesce(p.pubupdate, false), coalesce(p.pubviaroot, false),
       concat_ws(' ', p.pubowner, p.pubdelete, p.pubtruncate, to_jsonb(p) ->> 'pubgencols'),
       coalesce(f.column_list, ''),
       coalesce((SELECT c.relowner FROM pg_class AS c WHERE c.oid = a.oid), 0),
       coalesce((SELECT concat_ws(' ', n.nspowner, n.nspacl::text) FROM pg_namespace AS n
                  WHERE n.oid = a.relnamespace), ''),
       coalesce(f.born_sent, false),
       coalesce((SELECT string_agg(concat_ws(' ', k.kind, k.name), ', ' ORDER BY k.kind, k.name)
                   FROM code AS k WHERE k.place = a.place - 1), ''),
       coalesce((SELECT string_agg(what, ', ') FROM powers), ''),
       coalesce(({5}), ''), slot.*
  FROM asked AS a LEFT JOIN publication AS p ON true
  LEFT JOIN found AS f ON f.place = a.place
  LEFT JOIN (SELECT c.oid, n.nspname, c.relname
               FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace) AS o
    ON o.oid = a.known
  LEFT JOIN ({4}) AS slot ON true
 ORDER BY a.place
)sql";

std::string statement_for(int version_number) {
    const auto sent = version_number < version_of_schemas_published
                          ? std::string("false")
                          : fmt::format(fmt::runtime(schema_is_sent), "c", "p");
    return fmt::format(fmt::runtime(watch_sql), sent, trusted_roles_sql, foreign_code_sql,
                       fmt::format(fmt::runtime(writer_powers_sql), "$5"), slot_usage_sql("$6"),
                       change_sign_sql);
}

watched_table read_table(const row_set& rows, std::size_t row, fact_reader& reader) {
    watched_table table;
    table.oid = reader.number<std::uint32_t>(row, 0);
    table.kind = rows.text(row, 1);
    table.unlogged = rows.flag(row, 2);
    table.published = rows.flag(row, 3);
    table.filtered = rows.flag(row, 4);
    table.entry = reader.number<std::uint32_t>(row, 5);
    table.column_list = rows.text(row, 17);
    table.owner = reader.number<std::uint32_t>(row, 18);
    table.schema_rights = rows.text(row, 19);
    table.born_published = rows.flag(row, 20);
    table.code = rows.text(row, 21);
    table.members = rows.text(row, 6);
    table.columns = rows.text(row, 7);
    table.rights = rows.text(row, 8);
    if (rows.at(row, 10)) {
        table.now_called = table_name{rows.text(row, 9), rows.text(row, 10)};
    }
    return table;
}

watched_publication read_publication(const row_set& rows, fact_reader& reader) {
    constexpr std::size_t first = 11;
    watched_publication publication;
    publication.oid = reader.number<std::uint32_t>(0, first);
    publication.version = rows.text(0, first + 1);
    publication.inserts = rows.flag(0, first + 2);
    publication.updates = rows.flag(0, first + 3);
    publication.via_root = rows.flag(0, first + 4);
    publication.others = rows.text(0, first + 5);
    return publication;
}

}  // namespace

boost::asio::awaitable<result<watched_facts>> read_watched_facts(connection& sql,
                                                                 watched_objects of,
                                                                 watched_facts known) {
    constexpr std::size_t writer_powers = 22;
    constexpr std::size_t change_sign = 23;
    constexpr std::size_t slot = 24;
    watched_facts facts;
    facts.version_number = sql.version_number();
    auto [schemas, names] = arrays_of(of.tables);
    std::vector<std::string> oids;
    for (std::size_t index = 0; index < of.tables.size(); ++index) {
        oids.push_back(std::to_string(index < known.tables.size() ? known.tables[index].oid : 0));
    }
    std::vector<std::string> values{
        std::move(schemas),  std::move(names), std::move(of.publication),
        array_literal(oids), known.writer,     std::move(of.slot)};
    auto statement = statement_for(facts.version_number);
    const auto rows = co_await sql.query(std::move(statement), std::move(values));
    if (!rows) {
        co_return rows.error();
    }
    if (rows->size() != of.tables.size()) {
        co_return error{errc::postgres_lost, "PostgreSQL did not say what the tables are"};
    }
    fact_reader reader{*rows};
    facts.publication = read_publication(*rows, reader);
    facts.writer = std::move(known.writer);
    facts.writer_powers = rows->text(0, writer_powers);
    facts.change_sign = rows->text(0, change_sign);
    facts.slot = slot_usage_in(*rows, slot);
    for (std::size_t row = 0; row < rows->size(); ++row) {
        facts.tables.push_back(read_table(*rows, row, reader));
    }
    if (reader.failure()) {
        co_return *reader.failure();
    }
    co_return facts;
}

}  // namespace walrelay::postgres
