-- An outbox table of the shape that walrelay relays without any configuration, for a service that
-- has none yet. Runs in psql as it is, and again without harm:
--
--     psql -d app -f sql/outbox.sql
--     psql -d app -v outbox=billing_outbox -f sql/outbox.sql     another name
--
-- No status, no retry count, no index but the key's: nothing polls this table.
\set ON_ERROR_STOP on
\if :{?outbox} \else \set outbox outbox_events \endif

CREATE TABLE IF NOT EXISTS :outbox (
    -- Becomes Nats-Msg-Id. Never use one again, not even for a row that was deleted.
    id             uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    -- Both become tokens of the subject: events.<aggregate_type>.<event_type>.
    aggregate_type text NOT NULL,
    event_type     text NOT NULL,
    -- Events of one aggregate are in the order of their commits.
    aggregate_id   text NOT NULL,
    event_data     jsonb NOT NULL,
    -- A traceparent in it becomes a header of its own.
    metadata       jsonb,
    -- Of the form of event_data, for consumers.
    version        int NOT NULL DEFAULT 1,
    created_at     timestamptz NOT NULL DEFAULT clock_timestamp()
);
