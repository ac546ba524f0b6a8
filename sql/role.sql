-- A role of least privilege for walrelay, and what only an administrator can make for it. Runs in
-- psql as it is, in the database of the outbox, and again without harm: as a superuser, or, where a
-- managed service has none, as a role with CREATEROLE that owns the outbox and may create in the
-- database. What that role may not do is said, and everything else is done:
--
--     psql -d app -f sql/role.sql
--     psql -d app -v role=relay -v outbox=public.outbox -v publication=relay -f sql/role.sql
--     psql -d app -v writer=relay_writer -f sql/role.sql     where walrelay_writer is not to be its name
--     psql -d app -v message_writer=app -f sql/role.sql      for an outbox with message_prefix
--
-- It makes no passwords: set them, or let pg_hba.conf know the roles in another way.
\set ON_ERROR_STOP on
\if :{?role} \else \set role walrelay \endif
\if :{?outbox} \else \set outbox outbox_events \endif
\if :{?publication} \else \set publication walrelay \endif
\if :{?writer} \else \set writer :role _writer \endif

-- run, init: REPLICATION is what reading the WAL takes; it is a right to read all of it. Amazon RDS
-- and Aurora give it by membership, and have no superuser: where there is one, a role of that name can
-- be anybody's. Before PostgreSQL 16 only a superuser can give the attribute.
SELECT format('CREATE ROLE %I LOGIN', :'role')
 WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = :'role') \gexec
SELECT format('GRANT rds_replication TO %I', :'role')
 WHERE EXISTS (SELECT FROM pg_roles WHERE rolname = 'rds_replication')
   AND NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) \gexec
SELECT format('DO $do$ BEGIN EXECUTE %L; EXCEPTION WHEN insufficient_privilege THEN '
              '%s; END $do$',
              format('ALTER ROLE %I REPLICATION', :'role'),
              CASE WHEN EXISTS (SELECT FROM pg_roles WHERE rolname = 'rds_replication') THEN 'NULL'
                   ELSE format('RAISE WARNING USING MESSAGE = %L',
              format('the role %I may not replicate yet: this session may not give it that right; '
                     'have an administrator run ALTER ROLE %I REPLICATION, or see docs/managed.md '
                     'for the way of your service', :'role', :'role')) END)
 WHERE NOT (SELECT rolreplication FROM pg_roles WHERE rolname = :'role') \gexec
SELECT format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), :'role') \gexec
SELECT format('GRANT USAGE ON SCHEMA %s TO %I', relnamespace::regnamespace, :'role')
  FROM pg_class WHERE oid = :'outbox'::regclass \gexec

-- run and init with pgoutput: the owner of the table makes the publication, before the slot is made.
-- With republish it has to publish updates as well: ALTER PUBLICATION ... SET (publish = ...).
SELECT format('CREATE PUBLICATION %I FOR TABLE %s WITH (publish = ''insert'', '
              'publish_via_partition_root = true)', :'publication', :'outbox'::regclass)
 WHERE NOT EXISTS (SELECT FROM pg_publication WHERE pubname = :'publication') \gexec

-- verify, snapshot and heal read rows. on_published and on_dead_letter update them, delete_after
-- deletes them; who uses none of these, or has the writer do it, takes the two back.
SELECT format('GRANT SELECT, UPDATE, DELETE ON %s TO %I', :'outbox'::regclass, :'role') \gexec

-- What changes rows of the outbox where the configuration has postgres.writer = "user=<writer>": code
-- of others in triggers, constraints and indexes runs as this role then, which may do nothing else.
SELECT format('CREATE ROLE %I LOGIN', :'writer')
 WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = :'writer') \gexec
SELECT format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), :'writer') \gexec
SELECT format('GRANT USAGE ON SCHEMA %s TO %I', relnamespace::regnamespace, :'writer')
  FROM pg_class WHERE oid = :'outbox'::regclass \gexec
SELECT format('GRANT SELECT, UPDATE, DELETE ON %s TO %I', :'outbox'::regclass, :'writer') \gexec

-- Dead letters (sql/dead_letter.sql makes the table; walrelay would need CREATE on the database).
\ir dead_letter.sql
GRANT USAGE ON SCHEMA walrelay TO :"role";
GRANT SELECT, INSERT, UPDATE, DELETE ON walrelay.dead_letter TO :"role";
GRANT USAGE ON SCHEMA walrelay TO :"writer";
GRANT SELECT ON walrelay.dead_letter TO :"writer";

-- Halts (run keeps them, resume ends them).
\ir halt.sql
GRANT SELECT, INSERT, UPDATE, DELETE ON walrelay.halt TO :"role";
-- Retries of dead letters, and what tells walrelay's own updates from others.
\ir control.sql
GRANT SELECT, INSERT, DELETE ON walrelay.control TO :"role";
GRANT SELECT ON walrelay.control_key TO :"role";
-- Where the outbox has republish, the writer needs the same three lines; who may read the key can have
-- any row published, so what is not in trusted hands is refused then as without a writer.
SELECT format('ALTER PUBLICATION %I ADD TABLE walrelay.control', :'publication')
 WHERE NOT EXISTS (SELECT FROM pg_publication_tables
                    WHERE pubname = :'publication' AND schemaname = 'walrelay'
                      AND tablename = 'control') \gexec
-- What was there before each slot (verify --since-slot).
\ir slot_start.sql
GRANT SELECT, INSERT, UPDATE ON walrelay.slot_start TO :"role";
-- Partitions that were there (sql/partition.sql), for wal2json and a partitioned outbox.
\ir partition.sql
GRANT SELECT, INSERT, UPDATE, DELETE ON walrelay.partition TO :"role";
-- Positions that are kept for a replay: bookmarks and the trail (replay.keep).
\ir bookmark.sql
GRANT SELECT, INSERT, UPDATE, DELETE ON walrelay.bookmark TO :"role";
\ir trail.sql
GRANT SELECT, INSERT, UPDATE, DELETE ON walrelay.trail TO :"role";
-- What was stored, so that a loss is noticed.
\ir witness.sql
GRANT SELECT, INSERT, UPDATE, DELETE ON walrelay.witness TO :"role";
-- Replays.
\ir replay.sql
GRANT SELECT, INSERT, UPDATE ON walrelay.replay TO :"role";

-- An outbox with message_prefix: by default every role may write logical messages, and so rows of it.
\if :{?message_writer}
SELECT format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', oid::regprocedure),
       format('GRANT EXECUTE ON FUNCTION %s TO %I', oid::regprocedure, :'message_writer')
  FROM pg_proc
 WHERE proname = 'pg_logical_emit_message' AND pronamespace = 'pg_catalog'::regnamespace \gexec
\endif
