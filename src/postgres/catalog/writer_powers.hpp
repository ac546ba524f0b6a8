// What code that runs as the role of postgres.writer could do to the relay, as SQL. Only for the
// .cpp files of this folder.
#pragma once

namespace walrelay::postgres {

/// Follows trusted_roles_sql, with its parameters; {0} is the parameter of the role's name. One row
/// for each thing, in words that follow "role x". What counts is every role that it can become (SET
/// ROLE).
///
/// It names no table of the schema walrelay (connection::avoid_own_schema).
///
/// walrelay.control is not among the tables: a row of it is obeyed only with a proof, which takes
/// walrelay.control_key. A letter that was forged is published by nobody unless somebody retries
/// it.
inline constexpr const char* writer_powers_sql = R"sql(,
held AS (
    SELECT r.* FROM pg_roles AS w JOIN pg_roles AS r
        ON r.oid = w.oid OR (NOT w.rolsuper AND pg_has_role(w.oid, r.oid, 'MEMBER'))
     WHERE w.rolname = {0})
SELECT what FROM (
    SELECT 1, 'is a superuser' FROM held WHERE rolsuper
    UNION
    SELECT 2, 'has REPLICATION' FROM held WHERE rolreplication AND NOT rolsuper
    UNION
    SELECT 3, 'has CREATEROLE' FROM held WHERE rolcreaterole AND NOT rolsuper
    UNION
    SELECT 4, 'may act as role ' || quote_ident(held.rolname)
      FROM held JOIN masters ON masters.role = held.oid
     WHERE NOT held.rolsuper AND held.rolname <> {0}
    UNION
    SELECT 5, 'is ' || CASE {0} WHEN current_user THEN 'the relay''s own role'
                               ELSE 'the owner of the database or of an outbox' END
      FROM masters JOIN pg_roles AS w ON w.oid = masters.role
     WHERE w.rolname = {0} AND NOT w.rolsuper
    UNION
    SELECT 6, 'may act as role ' || rolname FROM held
     WHERE rolname IN ('pg_execute_server_program', 'pg_read_server_files',
                       'pg_write_server_files')
    UNION
    SELECT 7, 'may ' || privilege.name || ' walrelay' || '.' || quote_ident(c.relname)
      FROM held JOIN pg_namespace AS n ON n.nspname = 'walrelay'
      JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relkind IN ('r', 'p')
     CROSS JOIN (VALUES ('SELECT'), ('INSERT'), ('UPDATE'), ('DELETE'), ('TRUNCATE'), ('TRIGGER'),
                        ('REFERENCES'))
           AS privilege (name)
     WHERE NOT held.rolsuper
       AND CASE c.relname WHEN 'control_key' THEN true
                          WHEN 'control' THEN privilege.name IN ('TRIGGER', 'REFERENCES')
                          ELSE privilege.name <> 'SELECT' END
       AND (has_table_privilege(held.oid, c.oid, privilege.name)
            OR (privilege.name IN ('SELECT', 'INSERT', 'UPDATE', 'REFERENCES')
                AND has_any_column_privilege(held.oid, c.oid, privilege.name)))
) AS found (place, what)
 ORDER BY place, what
)sql";

}  // namespace walrelay::postgres
