-- The tables of the service: its orders, the outbox as the poller left it, and a consumer's inbox.
-- Runs in psql by itself, and again without harm.
CREATE TABLE IF NOT EXISTS orders (
    id        varchar(36) PRIMARY KEY,
    tenant_id varchar(64) NOT NULL,
    dish      text NOT NULL,
    amount    int NOT NULL
);

CREATE TABLE IF NOT EXISTS outbox (
    id             varchar(36) PRIMARY KEY,
    tenant_id      varchar(64) NOT NULL,
    aggregate_id   varchar(128),
    aggregate_type varchar(100),
    topic          varchar(128) NOT NULL,
    occurred_at    timestamptz,
    payload        json NOT NULL,
    event_metadata json NOT NULL,
    routing_key    varchar(100),
    schema_id      varchar(128),
    schema_version int DEFAULT 1,
    status         varchar(10) DEFAULT 'NEW',
    retry_count    int DEFAULT 0,
    retry_after    timestamptz,
    error_message  varchar(500),
    created_at     timestamptz DEFAULT now()
);
-- The first two served the poller's query; walrelay needs none of them.
CREATE INDEX IF NOT EXISTS outbox_tenant_status ON outbox (tenant_id, status);
CREATE INDEX IF NOT EXISTS outbox_status_retry ON outbox (status, retry_after);
CREATE INDEX IF NOT EXISTS outbox_topic ON outbox (topic);

-- A consumer puts the id of each message in here, in the transaction of what it does about it.
CREATE TABLE IF NOT EXISTS inbox (
    message_id   varchar(128) PRIMARY KEY,
    processed_at timestamptz NOT NULL DEFAULT now()
);
