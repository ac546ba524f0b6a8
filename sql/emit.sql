-- walrelay.emit: an event without any table. It is written into the WAL alone, in the caller's
-- transaction, and relayed if that commits. Runs in psql as it is, and again without harm.
--
--     SELECT walrelay.emit('user', '42', 'user.created', '{"name": "Ada"}');
--
-- It wants this in walrelay.toml, and pgoutput only from PostgreSQL 14 on:
--
--     [[outbox]]
--     message_prefix = "walrelay"
--
-- Half the WAL, no clean-up, no bloat; in return nothing is left to look at: there is no row to
-- verify, to heal from after a lost slot, or to publish again. A writer needs USAGE on the schema.
\set ON_ERROR_STOP on

CREATE SCHEMA IF NOT EXISTS walrelay;

CREATE OR REPLACE FUNCTION walrelay.emit(
    aggregate_type text, aggregate_id text, event_type text, event_data jsonb,
    metadata jsonb DEFAULT NULL, version int DEFAULT 1, id uuid DEFAULT gen_random_uuid())
RETURNS uuid LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    -- What would be a dead letter is refused here, where its writer can see it.
    IF aggregate_type IS NULL OR aggregate_type !~ '^[A-Za-z0-9_-]+$'
       OR event_type IS NULL OR event_type !~ '^[A-Za-z0-9_-]+([.][A-Za-z0-9_-]+)*$' THEN
        RAISE EXCEPTION 'aggregate_type and event_type are words of letters, digits, _ and -'
            USING ERRCODE = 'check_violation', HINT = 'An event_type may have dots between words.';
    END IF;
    IF aggregate_id IS NULL OR event_data IS NULL OR id IS NULL THEN
        RAISE EXCEPTION 'aggregate_id, event_data and id are not null'
            USING ERRCODE = 'not_null_violation';
    END IF;
    IF octet_length(event_data::text) + coalesce(octet_length(metadata::text), 0) > 950000 THEN
        RAISE EXCEPTION 'the event is larger than a message of NATS may be'
            USING ERRCODE = 'check_violation';
    END IF;
    -- The first argument must be true: only then it is a part of the transaction.
    PERFORM pg_logical_emit_message(true, 'walrelay', jsonb_build_object(
        'id', id, 'aggregate_type', aggregate_type, 'aggregate_id', aggregate_id,
        'event_type', event_type, 'event_data', event_data, 'metadata', metadata,
        'version', version, 'created_at', clock_timestamp())::text);
    RETURN id;
END $$;
