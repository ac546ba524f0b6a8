-- The partitions that walrelay has seen, in the database of the outbox. Used with a partitioned outbox
-- whose partitions alone are named in the WAL, by wal2json or by a publication that was made without
-- publish_via_partition_root: one that was detached or dropped before its rows were read is named by
-- nothing else any more.
--
-- Runs in psql as it is, and again without harm; `walrelay init` runs the same text. The role that
-- creates it needs CREATE on the database, or on the schema walrelay where that is there already.
--
-- A role of least privilege that relays needs no more than this:
--
--     GRANT USAGE ON SCHEMA walrelay TO <role>;
--     GRANT SELECT, INSERT, UPDATE, DELETE ON walrelay.partition TO <role>;
DO $$
BEGIN
    -- Asked first: IF NOT EXISTS alone wants the right to create also where nothing is missing.
    IF to_regnamespace('walrelay') IS NULL THEN
        CREATE SCHEMA IF NOT EXISTS walrelay;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_class
                    WHERE relname = 'partition' AND relnamespace = to_regnamespace('walrelay'))
    THEN
        CREATE TABLE IF NOT EXISTS walrelay.partition (
            slot        text NOT NULL,
            root_schema text NOT NULL,
            root_table  text NOT NULL,
            leaf_schema text NOT NULL,
            leaf_table  text NOT NULL,
            -- When it was last seen as a partition.
            seen_at     timestamptz NOT NULL DEFAULT now(),
            -- Where the WAL ended when it was first seen to be none any more: rows of transactions
            -- that committed before are the root's. 0/0: it never was one. NULL: it is one.
            gone_at     pg_lsn,
            PRIMARY KEY (slot, leaf_schema, leaf_table)
        );
    END IF;
END
$$;
