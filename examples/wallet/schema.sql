-- The tables of the service: its wallets, and the outbox as the poller left it.
-- Runs in psql by itself, and again without harm.
CREATE TABLE IF NOT EXISTS wallet (
    id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    owner   varchar NOT NULL,
    balance numeric(19, 2) NOT NULL DEFAULT 0
);

CREATE TABLE IF NOT EXISTS outbox (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_type     varchar NOT NULL,
    payload        text NOT NULL,
    correlation_id varchar,
    created_at     timestamp NOT NULL,
    sent           boolean NOT NULL DEFAULT false
);
