-- What walrelay has seen stored of each slot's rows, in the database of the outbox: the last message of
-- the stream, and the LSN up to which the slot may be told. It is committed before the slot is told, so
-- that a stream or a slot that has lost something is noticed by the next relay. It decides nothing of
-- what is published: the stream's messages alone do.
--
-- Runs in psql as it is, and again without harm; `walrelay init` and `walrelay run` run the same text.
-- The role that creates it needs CREATE on the database, or on the schema walrelay where that is there
-- already.
--
-- A role of least privilege that relays needs no more than this:
--
--     GRANT USAGE ON SCHEMA walrelay TO <role>;
--     GRANT SELECT, INSERT, UPDATE, DELETE ON walrelay.witness TO <role>;
DO $$
BEGIN
    -- Asked first: IF NOT EXISTS alone wants the right to create also where nothing is missing.
    IF to_regnamespace('walrelay') IS NULL THEN
        CREATE SCHEMA IF NOT EXISTS walrelay;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_class
                    WHERE relname = 'witness' AND relnamespace = to_regnamespace('walrelay'))
    THEN
        CREATE TABLE IF NOT EXISTS walrelay.witness (
            slot              text PRIMARY KEY,
            -- Counts the changes: a relay that lost the slot cannot turn the row back.
            version           bigint NOT NULL,
            noted_at          timestamptz NOT NULL DEFAULT now(),
            -- The stream: its name, and when it was created, in microseconds since 1970.
            stream            text NOT NULL,
            stream_created    bigint NOT NULL,
            -- Its last message that is known to be stored: sequence (0 is none) and Walrelay-Position.
            sequence          bigint NOT NULL,
            position          text NOT NULL,
            -- Every row committed before is stored or set aside.
            told              pg_lsn NOT NULL,
            system_identifier numeric NOT NULL,
            timeline          bigint NOT NULL,
            -- Every transaction that it shows as committed ended before `told`.
            snapshot          pg_snapshot,
            -- Those that it does not show ended after this.
            snapshot_lsn      pg_lsn,
            -- What becomes that, once `told` has come to the second.
            next_snapshot     pg_snapshot NOT NULL,
            next_lsn          pg_lsn NOT NULL,
            -- Of each outbox, by its name with the schema: the role (its oid) that owned the table
            -- when it was first relayed. A name can be taken over, an owner cannot.
            owners            jsonb
        ) WITH (fillfactor = 20);
    -- A table of an earlier version, where its owner runs this.
    ELSIF NOT EXISTS (SELECT FROM pg_catalog.pg_attribute
                       WHERE attrelid = to_regclass('walrelay.witness') AND attname = 'owners')
        AND pg_catalog.pg_has_role(
            (SELECT relowner FROM pg_catalog.pg_class
              WHERE oid = to_regclass('walrelay.witness')), 'USAGE')
    THEN
        ALTER TABLE walrelay.witness ADD COLUMN owners jsonb;
    END IF;
END
$$;
