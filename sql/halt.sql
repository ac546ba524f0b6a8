-- The table of slots at which walrelay has halted, in the database of the outbox: rows are in neither
-- the slot nor the stream, and no relay of the slot goes on until `walrelay resume`.
--
-- Runs in psql as it is, and again without harm; `walrelay init` runs the same text. The role that
-- creates it needs CREATE on the database, or on the schema walrelay where that is there already.
--
-- A role of least privilege that relays needs no more than this:
--
--     GRANT USAGE ON SCHEMA walrelay TO <role>;
--     GRANT SELECT, INSERT, UPDATE, DELETE ON walrelay.halt TO <role>;
DO $$
BEGIN
    -- Asked first: IF NOT EXISTS alone wants the right to create also where nothing is missing.
    IF to_regnamespace('walrelay') IS NULL THEN
        CREATE SCHEMA IF NOT EXISTS walrelay;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_class
                    WHERE relname = 'halt' AND relnamespace = to_regnamespace('walrelay'))
    THEN
        CREATE TABLE IF NOT EXISTS walrelay.halt (
            slot       text PRIMARY KEY,
            halted_at  timestamptz NOT NULL DEFAULT now(),
            -- What was found, and what an operator can do about it.
            reason     text NOT NULL,
            fix        text NOT NULL,
            -- An operator has decided to go on; the relay that does deletes the row.
            resumed_at timestamptz
        );
    END IF;
END
$$;
