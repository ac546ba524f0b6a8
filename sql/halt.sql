-- The table of slots at which walrelay has halted, in the database of the outbox: rows are in neither
-- the slot nor the stream, and no relay of the slot goes on until `walrelay resume` says how.
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
            -- An operator goes on without the rows; the relay that does deletes the row of this table.
            -- All that walrelay 0.2.0 knows of a decision.
            resumed_at timestamptz,
            -- What an operator has decided: look, looked, heal, give_up.
            decision   text,
            decided_at timestamptz,
            -- The halted_at of the halt that it was decided for: it does not count for another one,
            -- whatever the clock says of the two.
            decided_halt timestamptz
        );
    ELSIF NOT EXISTS (SELECT FROM pg_catalog.pg_class AS c
                        JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid
                       WHERE c.relname = 'halt' AND c.relnamespace = to_regnamespace('walrelay')
                         AND a.attname = 'decided_halt' AND NOT a.attisdropped)
    THEN
        -- A table that 0.2.0 has made.
        ALTER TABLE walrelay.halt ADD COLUMN IF NOT EXISTS decision text,
                                  ADD COLUMN IF NOT EXISTS decided_at timestamptz,
                                  ADD COLUMN IF NOT EXISTS decided_halt timestamptz;
    END IF;
END
$$;
