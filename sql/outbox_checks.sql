-- Constraints that refuse at the INSERT what the broker would refuse later: the writer learns of it
-- in its own transaction, and no dead letter comes of it. Runs in psql as it is, and again without
-- harm; the table must be there (sql/outbox.sql), of any table with these columns:
--
--     psql -d app -f sql/outbox_checks.sql
--     psql -d app -v outbox=billing_outbox -v max_bytes=200000 -f sql/outbox_checks.sql
--
-- NOT VALID: rows that are there already are not looked at, but an UPDATE of one looks.
\set ON_ERROR_STOP on
\if :{?outbox} \else \set outbox outbox_events \endif
-- max_payload of nats-server is 1 MiB unless set, and counts headers and envelope; 60 KiB is the
-- most that walrelay sends as headers.
\if :{?max_bytes} \else \set max_bytes 950000 \endif

-- Its own message for a psql that is given the wrong name.
SELECT :'outbox'::regclass AS table_with_checks;

ALTER TABLE :outbox
    DROP CONSTRAINT IF EXISTS walrelay_payload_fits,
    ADD CONSTRAINT walrelay_payload_fits CHECK (
        octet_length(event_data::text) + coalesce(octet_length(metadata::text), 0) <= :max_bytes)
        NOT VALID,
    -- Tokens that need no encoding: an event type may have dots, because it ends the subject.
    DROP CONSTRAINT IF EXISTS walrelay_aggregate_type_is_a_token,
    ADD CONSTRAINT walrelay_aggregate_type_is_a_token CHECK (
        aggregate_type ~ '^[A-Za-z0-9_-]+$' AND octet_length(aggregate_type) <= 255) NOT VALID,
    DROP CONSTRAINT IF EXISTS walrelay_event_type_is_tokens,
    ADD CONSTRAINT walrelay_event_type_is_tokens CHECK (
        event_type ~ '^[A-Za-z0-9_-]+([.][A-Za-z0-9_-]+)*$' AND octet_length(event_type) <= 255)
        NOT VALID;
