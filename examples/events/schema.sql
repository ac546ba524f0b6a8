-- The tables of the service: its business table, and the outbox as the poller left it.
-- Runs in psql by itself, and again without harm.
CREATE TABLE IF NOT EXISTS users (
    id         uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    email      varchar(255) NOT NULL UNIQUE,
    name       varchar(255) NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE IF NOT EXISTS outbox_events (
    id             uuid PRIMARY KEY,
    aggregate_id   varchar(255) NOT NULL,
    aggregate_type varchar(255) NOT NULL,
    event_type     varchar(255) NOT NULL,
    event_data     jsonb NOT NULL,
    metadata       jsonb,
    status         varchar(50) NOT NULL,
    version        bigint NOT NULL,
    created_at     timestamptz NOT NULL,
    published_at   timestamptz,
    failed_at      timestamptz,
    retry_count    int DEFAULT 0,
    max_retries    int DEFAULT 3,
    last_error     text,
    next_retry_at  timestamptz
);
CREATE INDEX IF NOT EXISTS outbox_events_status ON outbox_events (status);
CREATE INDEX IF NOT EXISTS outbox_events_created_at ON outbox_events (created_at);
CREATE INDEX IF NOT EXISTS outbox_events_aggregate
    ON outbox_events (aggregate_type, aggregate_id);
-- These two served the poller's query; walrelay needs neither.
CREATE INDEX IF NOT EXISTS outbox_events_pending
    ON outbox_events (created_at) WHERE status = 'pending';
CREATE INDEX IF NOT EXISTS outbox_events_failed
    ON outbox_events (next_retry_at) WHERE status = 'failed';
