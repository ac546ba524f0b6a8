-- What walrelay says to its relays through the WAL, in the database of the outbox: that a dead letter
-- or a row of earlier is to be published again, or which rows walrelay itself has changed. A row is
-- inserted and deleted in one transaction, so the table is always empty; with pgoutput the publication
-- contains it.
--
-- Who may insert here can have any row of the outboxes published: grant it to walrelay's role and to
-- those who retry dead letters or replay.
--
-- Each row carries a proof: the hash of a secret, which only those know who may read
-- walrelay.control_key, and of the transaction. A relay obeys no row without it, so a table that
-- somebody else makes under this name, at whatever time, says nothing to it.
--
-- Runs in psql as it is, and again without harm; `walrelay init` runs the same text. The role that
-- creates it needs CREATE on the database, or on the schema walrelay where that is there already.
--
-- A role of least privilege that relays needs no more than this:
--
--     GRANT USAGE ON SCHEMA walrelay TO <role>;
--     GRANT SELECT, INSERT, DELETE ON walrelay.control TO <role>;
--     GRANT SELECT ON walrelay.control_key TO <role>;
DO $$
DECLARE
    writer record;
BEGIN
    -- Asked first: IF NOT EXISTS alone wants the right to create also where nothing is missing.
    IF to_regnamespace('walrelay') IS NULL THEN
        CREATE SCHEMA IF NOT EXISTS walrelay;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_class
                    WHERE relname = 'control' AND relnamespace = to_regnamespace('walrelay'))
    THEN
        CREATE TABLE IF NOT EXISTS walrelay.control (
            -- By which the transaction finds its own rows again to delete them.
            transaction   bigint NOT NULL
                DEFAULT pg_catalog.pg_current_xact_id()::pg_catalog.text::pg_catalog.int8,
            place         bigint NOT NULL DEFAULT 1,
            -- 'own': walrelay has changed the rows of the ids in event; without any, all that
            -- follows in the transaction is its own. 'retry', 'replay': publish the row.
            kind          text NOT NULL,
            -- Of the relay that is to obey; NULL is every relay.
            slot          text,
            -- The dead letter, and how often it has been retried with this.
            dead_letter   bigint,
            retry         int,
            -- As in walrelay.dead_letter.
            source_schema text,
            source_table  text,
            event         json,
            -- The replay, the position that the row has of itself, when it was committed (in
            -- microseconds since 1970), and the template of its message's subject.
            replay        bigint,
            position      text,
            committed_at  bigint,
            subject       text,
            -- Of the transaction, see walrelay.control_proof().
            proof         text,
            PRIMARY KEY (transaction, place)
        );
    -- A table of an earlier version, where its owner runs this.
    ELSIF NOT EXISTS (SELECT FROM pg_catalog.pg_attribute
                       WHERE attrelid = to_regclass('walrelay.control') AND attname = 'replay')
        AND pg_catalog.pg_has_role(
            (SELECT relowner FROM pg_catalog.pg_class
              WHERE oid = to_regclass('walrelay.control')), 'USAGE')
    THEN
        ALTER TABLE walrelay.control
            ADD COLUMN replay bigint, ADD COLUMN position text,
            ADD COLUMN committed_at bigint, ADD COLUMN subject text;
    END IF;
    -- The secret, and what makes the proof of a transaction of it: the column's default, so that
    -- whoever writes a row need not know of it.
    IF to_regclass('walrelay.control_key') IS NULL AND pg_catalog.pg_has_role(
            (SELECT relowner FROM pg_catalog.pg_class
              WHERE oid = to_regclass('walrelay.control')), 'USAGE')
    THEN
        CREATE TABLE walrelay.control_key (
            secret text NOT NULL
                DEFAULT pg_catalog.concat(pg_catalog.gen_random_uuid(), pg_catalog.gen_random_uuid()),
            only_one bool PRIMARY KEY DEFAULT true CHECK (only_one)
        );
        INSERT INTO walrelay.control_key DEFAULT VALUES;
        CREATE FUNCTION walrelay.control_proof() RETURNS text LANGUAGE sql AS
            'SELECT pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(pg_catalog.concat(
                        secret, '':'', pg_catalog.pg_current_xact_id()), ''UTF8'')), ''hex'')
               FROM walrelay.control_key';
        IF NOT EXISTS (SELECT FROM pg_catalog.pg_attribute
                        WHERE attrelid = to_regclass('walrelay.control') AND attname = 'proof')
        THEN
            ALTER TABLE walrelay.control ADD COLUMN proof text;
        END IF;
        ALTER TABLE walrelay.control ALTER COLUMN proof SET DEFAULT walrelay.control_proof();
        -- Of a table of an earlier version: who may write it needs the secret.
        FOR writer IN
            SELECT DISTINCT held.grantee::regrole::text AS name
              FROM pg_catalog.pg_class AS c CROSS JOIN pg_catalog.aclexplode(c.relacl) AS held
             WHERE c.oid = to_regclass('walrelay.control') AND held.grantee <> 0
               AND held.privilege_type = 'INSERT' AND held.grantee <> c.relowner
        LOOP
            EXECUTE pg_catalog.format('GRANT SELECT ON walrelay.control_key TO %s', writer.name);
        END LOOP;
    END IF;
END
$$;
