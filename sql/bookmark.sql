-- The positions that are kept for a replay, in the database of the outbox: bookmarks, which people
-- make, and the trail, which walrelay moves along behind its slot. Each is a replication slot; what
-- has no row here was made by hand, and walrelay drops it only when it is told to by its name.
--
-- Runs in psql as it is, and again without harm; `walrelay init` runs the same text. The role that
-- creates it needs CREATE on the database, or on the schema walrelay where that is there already.
--
-- A role of least privilege that relays needs no more than this:
--
--     GRANT USAGE ON SCHEMA walrelay TO <role>;
--     GRANT SELECT, INSERT, UPDATE, DELETE ON walrelay.bookmark TO <role>;
DO $$
BEGIN
    -- Asked first: IF NOT EXISTS alone wants the right to create also where nothing is missing.
    IF to_regnamespace('walrelay') IS NULL THEN
        CREATE SCHEMA IF NOT EXISTS walrelay;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_class
                    WHERE relname = 'bookmark' AND relnamespace = to_regnamespace('walrelay'))
    THEN
        CREATE TABLE IF NOT EXISTS walrelay.bookmark (
            -- The replication slot that keeps the position.
            kept_slot  text PRIMARY KEY,
            -- The slot of the relay that it is a copy of.
            slot       text NOT NULL,
            -- NULL: the trail.
            name       text,
            -- When the copy was made: every transaction that committed later comes after it.
            made_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
            -- confirmed_flush_lsn of the copy; NULL before it is made.
            position   pg_lsn,
            comment    text,
            -- When the relay drops it; NULL is never.
            expires_at timestamptz
        );
    END IF;
END
$$;
