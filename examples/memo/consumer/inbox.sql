-- What the consumer remembers of each message, in the database of the table whose statuses it moves.
-- Runs in psql by itself, and again without harm.
CREATE TABLE IF NOT EXISTS email_inbox (
    -- Nats-Msg-Id.
    message_id     text PRIMARY KEY,
    first_seen_at  timestamptz NOT NULL DEFAULT now(),
    -- Tries that were begun.
    attempts       int NOT NULL DEFAULT 0,
    -- Set just before the mail server is told that the mail is complete, and cleared if it refuses:
    -- from here on it may have the mail.
    handed_over_at timestamptz,
    finished_at    timestamptz,
    -- SENT or FAILED, as in the outbox.
    outcome        text
);
-- For the clean-up: DELETE FROM email_inbox WHERE finished_at < now() - interval '30 days'. Keep
-- rows for longer than the stream keeps messages.
CREATE INDEX IF NOT EXISTS email_inbox_finished_at ON email_inbox (finished_at);
