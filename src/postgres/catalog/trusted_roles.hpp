// Which roles' objects may run as walrelay's, as SQL. Only for the .cpp files of this folder.
#pragma once

namespace walrelay::postgres {

/// A WITH RECURSIVE clause: the oids of superusers, of this session's role, of the relay's where
/// that is another one (writer_session.hpp), of the owner of the
/// database (by name, as a role from PostgreSQL 14 on as well) and of the owners of the tables ($1
/// schemas, $2 names); and of the members of any of them, who can act as they do. Runs with
/// search_path = pg_catalog.
inline constexpr const char* trusted_roles_sql = R"sql(
WITH RECURSIVE masters (role) AS (
    SELECT oid FROM pg_roles
     WHERE rolsuper OR rolname IN (current_user, 'pg_database_owner',
                                   current_setting('walrelay_writer.acts_for', true))
    UNION
    SELECT datdba FROM pg_database WHERE datname = current_database()
    UNION
    SELECT c.relowner
      FROM unnest($1::text[], $2::text[]) AS outbox (schema, name)
      JOIN pg_namespace AS n ON n.nspname = outbox.schema
      JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = outbox.name),
trusted (role) AS (
    SELECT role FROM masters
    UNION
    SELECT r.oid FROM pg_roles AS r
     WHERE EXISTS (SELECT FROM masters WHERE pg_has_role(r.oid, masters.role, 'MEMBER')))
)sql";

}  // namespace walrelay::postgres
