// The catalog queries of the inspector, for PostgreSQL 13 to 18. They run with search_path =
// pg_catalog and need no right that PUBLIC lacks. Views and columns: PostgreSQL documentation,
// "System Catalogs" and "System Views".
#pragma once

namespace walrelay::postgres::queries {

/// One row on the server and this session. output_plugin_libraries is NULL where the server does
/// not have it, and where the role may not see it (pg_read_all_settings). The walsenders are
/// counted by the function, because its view joins what ordinary roles see in part only. The last
/// column is a role by which a managed service shows, if there is one; sources: docs/managed.md.
inline constexpr const char* server = R"sql(
SELECT current_setting('server_version_num')::int4,
       pg_is_in_recovery(),
       CASE WHEN pg_is_in_recovery() THEN '0/0' ELSE pg_current_wal_flush_lsn()::text END,
       current_database(),
       current_setting('server_encoding'),
       current_setting('wal_level'),
       current_user,
       (SELECT rolreplication OR rolsuper FROM pg_roles WHERE rolname = current_user),
       current_setting('max_replication_slots')::int4
           - (SELECT count(*) FROM pg_replication_slots)::int4,
       current_setting('max_wal_senders')::int4
           - (SELECT count(*) FROM pg_stat_get_wal_senders())::int4,
       (SELECT setting::int8 FROM pg_settings WHERE name = 'wal_sender_timeout'),
       (SELECT setting FROM pg_settings WHERE name = 'output_plugin_libraries'),
       current_setting('synchronous_standby_names'),
       current_setting('application_name'),
       (SELECT min(rolname) FROM pg_roles
         WHERE rolname IN ('rds_superuser', 'cloudsqlsuperuser', 'alloydbsuperuser',
                           'azure_pg_admin', 'neon_superuser', 'supabase_admin'))
)sql";

/// Walrelay's own tables by name: whether each is there, whether the role has the rights $2 on it
/// ($1 names and $2 rights are pairs); and in each row whether the role may make what is missing.
/// By way of pg_class, because to_regclass wants USAGE on the schema.
inline constexpr const char* own_tables = R"sql(
SELECT c.oid IS NOT NULL,
       coalesce(has_schema_privilege(c.relnamespace, 'USAGE')
                AND (SELECT bool_and(has_table_privilege(c.oid, each))
                       FROM unnest(string_to_array(asked.rights, ', ')) AS each), false),
       coalesce((SELECT has_schema_privilege(oid, 'CREATE') FROM pg_namespace
                  WHERE nspname = 'walrelay'),
                has_database_privilege(current_database(), 'CREATE')),
       coalesce(pg_has_role(c.relowner, 'USAGE'), false)
  FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS asked (name, rights, place)
  LEFT JOIN (pg_class AS c JOIN pg_namespace AS n
                ON n.oid = c.relnamespace AND n.nspname = 'walrelay')
    ON c.relname = asked.name
 ORDER BY asked.place
)sql";

/// Which rows from before the slot $1 were published, see sql/slot_start.sql; nothing where another
/// server than $2 has written it (0 is not known). By way of jsonb, because the columns came after
/// 0.2.0.
inline constexpr const char* slot_began_with = R"sql(
SELECT to_jsonb(s) ->> 'published' FROM walrelay.slot_start AS s
 WHERE slot = $1
   AND $2::numeric IN (0, coalesce((to_jsonb(s) ->> 'system_identifier')::numeric, $2::numeric))
)sql";

/// System identifier and timeline, where the role may call these functions. The timeline is that of
/// the last checkpoint, so right after a promotion it can be the old one.
inline constexpr const char* origin = R"sql(
SELECT (SELECT system_identifier FROM pg_control_system()),
       (SELECT timeline_id FROM pg_control_checkpoint())
)sql";

/// The slot $1. By way of jsonb, because two_phase came with PostgreSQL 14, conflicting with 16 and
/// the rest with 17.
inline constexpr const char* slot = R"sql(
SELECT coalesce(plugin::text, ''), coalesce(database::text, ''), active,
       coalesce((to_jsonb(s) ->> 'two_phase')::bool, false), coalesce(active_pid, 0),
       restart_lsn, confirmed_flush_lsn, coalesce(wal_status, ''),
       coalesce(to_jsonb(s) ->> 'invalidation_reason',
                CASE WHEN to_jsonb(s) ->> 'conflicting' = 'true' THEN 'conflicting' END, ''),
       coalesce((to_jsonb(s) ->> 'failover')::bool, false),
       coalesce((to_jsonb(s) ->> 'synced')::bool, false)
  FROM pg_replication_slots AS s WHERE slot_name = $1
)sql";

/// The slots of synchronized_standby_slots, which came with PostgreSQL 17: name, whether it is
/// there, whether its standby is connected. Names of slots need no quotes but may have them.
inline constexpr const char* standby_slots = R"sql(
SELECT named.slot, s.slot_name IS NOT NULL, coalesce(s.active, false)
  FROM pg_settings AS g
  CROSS JOIN unnest(string_to_array(translate(g.setting, ' "', ''), ','))
             WITH ORDINALITY AS named (slot, place)
  LEFT JOIN pg_replication_slots AS s ON s.slot_name = named.slot
 WHERE g.name = 'synchronized_standby_slots' AND named.slot <> ''
 ORDER BY named.place
)sql";

/// The publication $1, and whether it may be younger than the slot $2: then its row was written
/// after the oldest catalog state that the slot can look back to. An ALTER PUBLICATION looks the
/// same, so this is a suspicion only.
inline constexpr const char* publication = R"sql(
SELECT p.pubinsert, p.pubviaroot, p.puballtables, p.pubupdate, pg_has_role(p.pubowner, 'USAGE'),
       coalesce(age(p.xmin) <= (SELECT age(s.catalog_xmin) FROM pg_replication_slots AS s
                                 WHERE s.slot_name = $2), false)
  FROM pg_publication AS p WHERE p.pubname = $1
)sql";

/// Whether the publication $1 has all tables of a schema: from PostgreSQL 15 on.
inline constexpr const char* publication_schemas = R"sql(
SELECT FROM pg_publication_namespace AS s JOIN pg_publication AS p ON p.oid = s.pnpubid
 WHERE p.pubname = $1
)sql";
inline constexpr int version_of_publication_schemas = 150000;

/// The tables of the publication $1, and whether a row filter is set for each. By way of jsonb,
/// because rowfilter came with PostgreSQL 15.
inline constexpr const char* publication_tables = R"sql(
SELECT schemaname, tablename, to_jsonb(t) ->> 'rowfilter' IS NOT NULL
  FROM pg_publication_tables AS t WHERE pubname = $1
 ORDER BY schemaname, tablename
)sql";

/// Of the tables ($1 schemas, $2 names), in that order, NULL where missing: kind, persistence,
/// whether the role may read it, whether all that holds its rows has a replica identity; oid, who;
/// whether the role has USAGE of the schema, and may read xmin (system column -2; views have none).
inline constexpr const char* tables = R"sql(
SELECT c.relkind, c.relpersistence, has_table_privilege(c.oid, 'SELECT'),
       coalesce((SELECT bool_and(l.relreplident IN ('f', 'i')
                        OR (l.relreplident = 'd' AND EXISTS (
                            SELECT FROM pg_index AS i WHERE i.indrelid = l.oid AND i.indisprimary)))
                   FROM pg_class AS l
                  WHERE (l.oid = c.oid AND c.relkind <> 'p')
                     OR l.oid IN (SELECT relid FROM pg_partition_tree(c.oid) WHERE isleaf)), true),
       c.oid, pg_get_userbyid(c.relowner)::text, has_schema_privilege(n.oid, 'USAGE'),
       coalesce(has_column_privilege(c.oid, (-2)::smallint, 'SELECT'), true)
  FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS asked (schema, name, place)
  LEFT JOIN (pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace)
    ON n.nspname = asked.schema AND c.relname = asked.name
   AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
 ORDER BY asked.place
)sql";

/// The columns of the tables: place in the request, name, type, whether and how it is generated;
/// whether it can be NULL, whether an index of all rows begins with it, whether the role may read
/// it.
inline constexpr const char* columns = R"sql(
SELECT asked.place - 1, a.attname, a.atttypid, a.attgenerated,
       NOT (a.attnotnull OR t.typnotnull),
       EXISTS (SELECT FROM pg_index AS i
                WHERE i.indrelid = c.oid AND i.indisvalid AND i.indpred IS NULL
                  AND i.indkey[0] = a.attnum),
       has_column_privilege(c.oid, a.attnum, 'SELECT')
  FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS asked (schema, name, place)
  JOIN pg_namespace AS n ON n.nspname = asked.schema
  JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = asked.name
   AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
  JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  JOIN pg_type AS t ON t.oid = a.atttypid
 ORDER BY asked.place, a.attnum
)sql";

/// The columns that the publication $3 sends of the tables, or of all partitions that it has of
/// them: place in the request, name. By way of jsonb, because attnames came with PostgreSQL 15.
inline constexpr const char* published_columns = R"sql(
WITH sent (place, names) AS (
    SELECT asked.place - 1, to_jsonb(t) -> 'attnames'
      FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS asked (schema, name, place)
      JOIN pg_namespace AS n ON n.nspname = asked.schema
      JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = asked.name
      JOIN pg_publication_tables AS t ON t.pubname = $3
       AND ((t.schemaname = asked.schema AND t.tablename = asked.name)
            OR (c.relkind = 'p'
                AND (t.schemaname, t.tablename) IN (
                    SELECT ln.nspname, l.relname FROM pg_partition_tree(c.oid) AS tree
                      JOIN pg_class AS l ON l.oid = tree.relid
                      JOIN pg_namespace AS ln ON ln.oid = l.relnamespace))))
SELECT sent.place, named.name
  FROM sent CROSS JOIN jsonb_array_elements_text(nullif(sent.names, 'null')) AS named (name)
 GROUP BY sent.place, named.name
HAVING count(*) = (SELECT count(*) FROM sent AS each WHERE each.place = sent.place)
 ORDER BY sent.place, named.name
)sql";

/// The leaf partitions of those that are partitioned: place in the request, schema, name, oid.
inline constexpr const char* leaves = R"sql(
SELECT asked.place - 1, leaf_schema.nspname, leaf.relname, leaf.oid
  FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS asked (schema, name, place)
  JOIN pg_namespace AS n ON n.nspname = asked.schema
  JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = asked.name AND c.relkind = 'p'
  CROSS JOIN pg_partition_tree(c.oid) AS tree
  JOIN pg_class AS leaf ON leaf.oid = tree.relid
  JOIN pg_namespace AS leaf_schema ON leaf_schema.oid = leaf.relnamespace
 WHERE tree.isleaf AND tree.relid <> c.oid
 ORDER BY asked.place, leaf_schema.nspname, leaf.relname
)sql";

/// The schemas of the tables and of all that hangs below them where a role may create tables, or
/// owns it, that is not trusted: name, who, whether one of them owns it. Begins with
/// trusted_roles_sql.
inline constexpr const char* open_names = R"sql(,
outbox (oid) AS (
    SELECT c.oid
      FROM unnest($1::text[], $2::text[]) AS asked (schema, name)
      JOIN pg_namespace AS n ON n.nspname = asked.schema
      JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = asked.name),
home (oid) AS (
    SELECT DISTINCT relnamespace FROM pg_class
     WHERE oid IN (SELECT oid FROM outbox
                   UNION SELECT tree.relid
                     FROM outbox CROSS JOIN pg_partition_tree(outbox.oid) AS tree)),
maker (schema, role, owns) AS (
    SELECT n.nspname, n.nspowner, true FROM pg_namespace AS n JOIN home USING (oid)
    UNION ALL
    SELECT n.nspname, a.grantee, false
      FROM pg_namespace AS n JOIN home USING (oid)
     CROSS JOIN aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) AS a
     WHERE a.privilege_type = 'CREATE' AND a.grantee <> n.nspowner)
SELECT schema::text, string_agg(DISTINCT CASE role WHEN 0 THEN 'PUBLIC'
                                         ELSE quote_ident(pg_get_userbyid(role)) END, ', '),
       bool_or(owns)
  FROM maker WHERE role NOT IN (SELECT role FROM trusted)
 GROUP BY schema ORDER BY schema
)sql";

/// The columns by which those are partitioned, at any depth, also within expressions: place in the
/// request, name.
inline constexpr const char* partition_columns = R"sql(
SELECT DISTINCT asked.place - 1, a.attname
  FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS asked (schema, name, place)
  JOIN pg_namespace AS n ON n.nspname = asked.schema
  JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = asked.name AND c.relkind = 'p'
  CROSS JOIN pg_partition_tree(c.oid) AS tree
  JOIN pg_partitioned_table AS p ON p.partrelid = tree.relid
  JOIN pg_attribute AS a ON a.attrelid = tree.relid AND a.attnum > 0 AND NOT a.attisdropped
   AND (a.attnum = ANY (p.partattrs)
        OR (p.partexprs IS NOT NULL
            AND strpos(pg_get_partkeydef(tree.relid), quote_ident(a.attname)) > 0))
 ORDER BY 1, 2
)sql";

/// The tables that inherit from ordinary ones, at any depth: place in the request, schema, name.
inline constexpr const char* children = R"sql(
WITH RECURSIVE below (place, relid) AS (
    SELECT asked.place - 1, i.inhrelid
      FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS asked (schema, name, place)
      JOIN pg_namespace AS n ON n.nspname = asked.schema
      JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = asked.name AND c.relkind = 'r'
      JOIN pg_inherits AS i ON i.inhparent = c.oid
    UNION
    SELECT below.place, i.inhrelid FROM below JOIN pg_inherits AS i ON i.inhparent = below.relid)
SELECT below.place, n.nspname, c.relname
  FROM below JOIN pg_class AS c ON c.oid = below.relid
  JOIN pg_namespace AS n ON n.oid = c.relnamespace
 ORDER BY below.place, n.nspname, c.relname
)sql";

/// All tables of the schemas $1, or where $2 is true of all schemas but the server's own.
inline constexpr const char* tables_of_schemas = R"sql(
SELECT n.nspname, c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
 WHERE c.relkind IN ('r', 'p')
   AND (n.nspname = ANY ($1::text[])
        OR ($2::bool AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'))
 ORDER BY n.nspname, c.relname
)sql";

/// Every domain and the type that it stands for in the end, through domains over domains.
inline constexpr const char* domains = R"sql(
WITH RECURSIVE chain (domain, base) AS (
    SELECT oid, typbasetype FROM pg_type WHERE typtype = 'd'
    UNION ALL
    SELECT chain.domain, t.typbasetype FROM chain JOIN pg_type AS t ON t.oid = chain.base
     WHERE t.typtype = 'd')
SELECT chain.domain, chain.base FROM chain JOIN pg_type AS t ON t.oid = chain.base
 WHERE t.typtype <> 'd' ORDER BY chain.domain
)sql";

/// Every other type that is not built in, in one text: there are two for each table.
inline constexpr const char* types = R"sql(
SELECT coalesce(string_agg(oid::text, ' ' ORDER BY oid), '')
  FROM pg_type WHERE typtype <> 'd' AND oid >= 16384
)sql";

}  // namespace walrelay::postgres::queries
