-- What was asked of `walrelay replay --execute`, and how far each replay has come, in the database
-- of the outbox. The rows themselves go through walrelay.control, in the transactions that note the
-- progress here: so each is written once, wherever a replay is broken off and resumed.
--
-- Runs in psql as it is, and again without harm; `walrelay init` runs the same text. The role that
-- creates it needs CREATE on the database, or on the schema walrelay where that is there already.
--
-- A role of least privilege that replays needs no more than this:
--
--     GRANT USAGE ON SCHEMA walrelay TO <role>;
--     GRANT SELECT, INSERT, UPDATE ON walrelay.replay TO <role>;
DO $$
BEGIN
    -- Asked first: IF NOT EXISTS alone wants the right to create also where nothing is missing.
    IF to_regnamespace('walrelay') IS NULL THEN
        CREATE SCHEMA IF NOT EXISTS walrelay;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_class
                    WHERE relname = 'replay' AND relnamespace = to_regnamespace('walrelay'))
    THEN
        CREATE TABLE IF NOT EXISTS walrelay.replay (
            id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            -- Of the relay that publishes the rows.
            slot         text NOT NULL,
            -- 'running': it is under way, or was broken off. 'done', 'cancelled': nothing comes of
            -- it any more.
            state        text NOT NULL DEFAULT 'running'
                CHECK (state IN ('running', 'done', 'cancelled')),
            -- The slot from whose copy it reads: it must stay until the replay is done. NULL: it
            -- reads the rows of these ids from their table, and has come to the first `taken`.
            kept_slot    text,
            ids          text[],
            taken        bigint NOT NULL DEFAULT 0,
            -- Where it begins and ends, and which rows it takes.
            range_from   text NOT NULL,
            range_until  pg_lsn NOT NULL,
            range_last   text,
            since        bigint,
            before       bigint,
            tables       text[] NOT NULL DEFAULT '{}',
            subject      text,
            aggregates   text[] NOT NULL DEFAULT '{}',
            -- The template of the subjects that the messages get; NULL: their own.
            to_subject   text,
            -- The row that was written last: its commit, and its position.
            at_lsn       pg_lsn,
            position     text,
            rows_planned bigint NOT NULL,
            rows_written bigint NOT NULL DEFAULT 0,
            started_at   timestamptz NOT NULL DEFAULT pg_catalog.now(),
            changed_at   timestamptz NOT NULL DEFAULT pg_catalog.now(),
            -- What was written is published only where the stream, or a dead letter, has it. Its
            -- messages come after this sequence of the stream; so many were found there when the
            -- replay was done.
            stream_sequence bigint,
            rows_stored     bigint
        );
    -- A table of an earlier version, where its owner runs this.
    ELSIF NOT EXISTS (SELECT FROM pg_catalog.pg_attribute
                       WHERE attrelid = to_regclass('walrelay.replay')
                         AND attname = 'rows_stored' AND NOT attisdropped)
        AND pg_catalog.pg_has_role(
            (SELECT relowner FROM pg_catalog.pg_class
              WHERE oid = to_regclass('walrelay.replay')), 'USAGE')
    THEN
        PERFORM pg_catalog.set_config('lock_timeout', '2s', true);
        ALTER TABLE walrelay.replay
            ADD COLUMN IF NOT EXISTS stream_sequence bigint,
            ADD COLUMN IF NOT EXISTS rows_stored bigint;
    END IF;
END
$$;
