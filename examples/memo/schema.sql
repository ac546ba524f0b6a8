-- The tables of the service: its memos, and the e-mail outbox as the poller left it.
-- Runs in psql by itself, and again without harm.
CREATE TABLE IF NOT EXISTS memos (
    id                   uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    memo_number_prefix   varchar(50),
    memo_number_sequence bigint GENERATED ALWAYS AS IDENTITY,
    department_code      varchar(50),
    title                varchar(500),
    purpose              text,
    created_at           timestamptz DEFAULT now(),
    updated_at           timestamptz DEFAULT now()
);

CREATE TABLE IF NOT EXISTS email_outbox (
    id                uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    memo_id           uuid REFERENCES memos,
    event_type        varchar(100),
    payload           jsonb,
    recipient_email   varchar(255),
    notification_type varchar(100),
    status            varchar(20) DEFAULT 'PENDING',
    retry_count       int DEFAULT 0,
    last_attempt_at   timestamptz,
    sent_at           timestamptz,
    error_message     text,
    idempotency_key   varchar(100),
    meta_created_at   timestamptz DEFAULT now(),
    meta_updated_at   timestamptz
);
CREATE UNIQUE INDEX IF NOT EXISTS email_outbox_idempotency_key
    ON email_outbox (idempotency_key) WHERE idempotency_key IS NOT NULL;
