-- What a slot begins with, in the database of the outbox: every row that was there before is in
-- `snapshot`, every later one comes through the slot. `walrelay verify --since-slot` reads it.
--
-- Runs in psql as it is, and again without harm; `walrelay init` and `walrelay run` run the same text
-- when they make a slot. The role that creates it needs CREATE on the database, or on the schema
-- walrelay where that is there already.
--
-- A role of least privilege that makes slots needs no more than this:
--
--     GRANT USAGE ON SCHEMA walrelay TO <role>;
--     GRANT SELECT, INSERT, UPDATE ON walrelay.slot_start TO <role>;
DO $$
BEGIN
    -- Asked first: IF NOT EXISTS alone wants the right to create also where nothing is missing.
    IF to_regnamespace('walrelay') IS NULL THEN
        CREATE SCHEMA IF NOT EXISTS walrelay;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_class
                    WHERE relname = 'slot_start' AND relnamespace = to_regnamespace('walrelay'))
    THEN
        CREATE TABLE IF NOT EXISTS walrelay.slot_start (
            slot     text PRIMARY KEY,
            made_at  timestamptz NOT NULL DEFAULT now(),
            -- The consistent point: the slot brings what is committed from here on.
            lsn      pg_lsn NOT NULL,
            -- The transactions that were committed there.
            snapshot pg_snapshot NOT NULL,
            -- Which of the rows from before were published: none, pending or all; NULL is not known.
            published text,
            -- Of the server that has numbered these transactions; NULL is not known. A dump brings
            -- the row into another one, where it says nothing.
            system_identifier numeric
        );
    ELSIF NOT EXISTS (SELECT FROM pg_catalog.pg_class AS c
                        JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid
                       WHERE c.relname = 'slot_start' AND c.relnamespace = to_regnamespace('walrelay')
                         AND a.attname = 'system_identifier' AND NOT a.attisdropped)
    THEN
        -- A table that an earlier version has made.
        ALTER TABLE walrelay.slot_start ADD COLUMN IF NOT EXISTS published text,
                                        ADD COLUMN IF NOT EXISTS system_identifier numeric;
    END IF;
END
$$;
