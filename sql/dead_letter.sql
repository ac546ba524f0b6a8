-- The table of the rows that walrelay could not deliver, in the database of the outbox.
--
-- Runs in psql as it is, and again without harm; `walrelay init` runs the same text. The role that
-- creates it needs CREATE on the database, or on the schema walrelay where that is there already.
--
-- A role of least privilege that relays needs no more than this:
--
--     GRANT USAGE ON SCHEMA walrelay TO <role>;
--     GRANT SELECT, INSERT, UPDATE, DELETE ON walrelay.dead_letter TO <role>;
DO $$
BEGIN
    -- Asked first: IF NOT EXISTS alone wants the right to create also where nothing is missing.
    IF to_regnamespace('walrelay') IS NULL THEN
        CREATE SCHEMA IF NOT EXISTS walrelay;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_class
                    WHERE relname = 'dead_letter' AND relnamespace = to_regnamespace('walrelay'))
    THEN
        CREATE TABLE IF NOT EXISTS walrelay.dead_letter (
            id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            -- As in Walrelay-Position, <system>.<timeline>.<commit LSN>.<row LSN>.<index>: a row
            -- that is met again after a restart is the same dead letter. Where another slot has a
            -- letter of the same row: <position>@<slot>. Of a row that an operator went on without:
            -- left out of <slot>: <message id>, which is cut, with its MD5, where no index takes it;
            -- no message id, <UUID>, where the row has none.
            position      text NOT NULL UNIQUE,
            source_schema text NOT NULL,
            source_table  text NOT NULL,
            -- What the message would have been; NULL where the row could not be mapped that far.
            message_id    text,
            subject       text,
            headers       json NOT NULL,
            -- The row: [{"name": ..., "type": pg_type.oid, "value": text or null}, ...]. json and
            -- not jsonb, which refuses what json holds as it is.
            event         json,
            reason        text NOT NULL,
            -- JetStream's err_code; 0 where the broker was not asked.
            error_code    int NOT NULL,
            -- How often the broker was offered the message.
            attempts      int NOT NULL,
            committed_at  timestamptz NOT NULL,
            dead_at       timestamptz NOT NULL DEFAULT now(),
            -- -1: dropped, left out when an operator went on without the row, or a retry that failed.
            -- It has no content and is not shown; it only keeps walrelay from taking the row for lost.
            retries       int NOT NULL DEFAULT 0,
            retried_at    timestamptz,
            -- Of the relay that set it aside, and that is asked to publish it. NULL: one of 0.2.0
            -- did. It counts for the slots of this database where there is one alone.
            slot          text,
            -- Of the last retry: the stream's last sequence before it, and what became of it:
            -- 'stored', 'failed', 'lost', 'dead_letter' (another one, of a relay of 0.2.0), or NULL:
            -- not known yet.
            retry_sequence bigint,
            retry_fate     text
        );
    -- A table of an earlier version, where its owner runs this. Relays of that version go on with
    -- it: their statements name their columns.
    ELSIF NOT EXISTS (SELECT FROM pg_catalog.pg_attribute
                       WHERE attrelid = to_regclass('walrelay.dead_letter')
                         AND attname = 'retry_fate' AND NOT attisdropped)
        AND pg_catalog.pg_has_role(
            (SELECT relowner FROM pg_catalog.pg_class
              WHERE oid = to_regclass('walrelay.dead_letter')), 'USAGE')
    THEN
        -- Others wait for what waits for a lock: not for long.
        PERFORM pg_catalog.set_config('lock_timeout', '2s', true);
        ALTER TABLE walrelay.dead_letter
            ADD COLUMN IF NOT EXISTS slot text,
            ADD COLUMN IF NOT EXISTS retry_sequence bigint,
            ADD COLUMN IF NOT EXISTS retry_fate text;
    END IF;
END
$$;
