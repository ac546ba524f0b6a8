-- Where the slot of a relay stood at which time, in the database of the outbox: with replay.keep the
-- trail is moved along it. One row a minute at most, and only while the slot moves.
--
-- Runs in psql as it is, and again without harm; `walrelay init` runs the same text. The role that
-- creates it needs CREATE on the database, or on the schema walrelay where that is there already.
--
-- A role of least privilege that relays needs no more than this:
--
--     GRANT USAGE ON SCHEMA walrelay TO <role>;
--     GRANT SELECT, INSERT, UPDATE, DELETE ON walrelay.trail TO <role>;
DO $$
BEGIN
    -- Asked first: IF NOT EXISTS alone wants the right to create also where nothing is missing.
    IF to_regnamespace('walrelay') IS NULL THEN
        CREATE SCHEMA IF NOT EXISTS walrelay;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_class
                    WHERE relname = 'trail' AND relnamespace = to_regnamespace('walrelay'))
    THEN
        CREATE TABLE IF NOT EXISTS walrelay.trail (
            slot      text NOT NULL,
            -- confirmed_flush_lsn of the slot, and the server's clock right after it was read: every
            -- transaction that committed later comes after the position.
            position  pg_lsn NOT NULL,
            seen_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
            -- The system whose positions these are: those of another one mean nothing here.
            system    text NOT NULL,
            PRIMARY KEY (slot, position)
        );
    END IF;
END
$$;
