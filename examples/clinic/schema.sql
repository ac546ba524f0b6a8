-- The tables of the service: its event store, and the outbox as the poller left it.
-- Runs in psql by itself, and again without harm.
CREATE TABLE IF NOT EXISTS event_store (
    aggregate_id varchar(255) NOT NULL,
    event_type   varchar(255) NOT NULL,
    event_data   jsonb NOT NULL,
    version      int NOT NULL,
    "timestamp"  timestamp NOT NULL,
    PRIMARY KEY (aggregate_id, version)
);

CREATE TABLE IF NOT EXISTS outbox (
    id           uuid PRIMARY KEY,
    aggregate_id varchar(255) NOT NULL,
    event_type   varchar(255) NOT NULL,
    event_data   jsonb NOT NULL,
    metadata     jsonb NOT NULL,
    created_at   timestamp NOT NULL,
    published_at timestamp NULL,
    published    boolean DEFAULT false,
    retry_count  int DEFAULT 0
);
-- Served the poller's query; walrelay does not need it.
CREATE INDEX IF NOT EXISTS outbox_published ON outbox (published, created_at);
