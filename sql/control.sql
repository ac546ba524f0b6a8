-- What walrelay says to its relays through the WAL, in the database of the outbox: that a dead letter
-- is to be published again, or that a transaction is walrelay's own. A row is inserted and deleted in
-- one transaction, so the table is always empty; with pgoutput the publication contains it.
--
-- Who may insert here can have any row of the outboxes published: grant it to walrelay's role and to
-- those who retry dead letters.
--
-- Runs in psql as it is, and again without harm; `walrelay init` runs the same text. The role that
-- creates it needs CREATE on the database, or on the schema walrelay where that is there already.
--
-- A role of least privilege that relays needs no more than this:
--
--     GRANT USAGE ON SCHEMA walrelay TO <role>;
--     GRANT SELECT, INSERT, DELETE ON walrelay.control TO <role>;
DO $$
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
            -- 'own': what follows in the transaction is walrelay's. 'retry': publish the row.
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
            PRIMARY KEY (transaction, place)
        );
    END IF;
END
$$;
