-- An inbox for consumers, in the consumer's own database: each message takes effect once, however
-- often it is delivered. Runs in psql as it is, and again without harm.
--
--     BEGIN;
--     SELECT walrelay_inbox.claim('<Nats-Msg-Id>', 'billing');   -- false: done before, only ack it
--     ... the effect of the message ...
--     COMMIT;                                                    -- then ack the message
--
-- Claim and effect are one transaction, so either both happened or neither. A second consumer that
-- has the same message waits in claim() for the first one's end. walrelay gives a row that is
-- published again on purpose a message id of its own, so such a message does take effect again.
\set ON_ERROR_STOP on

CREATE SCHEMA IF NOT EXISTS walrelay_inbox;

CREATE TABLE IF NOT EXISTS walrelay_inbox.claimed (
    -- Who consumes: several consumers in one database do not take each other's messages away.
    consumer   text NOT NULL,
    message_id text NOT NULL,
    claimed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (consumer, message_id)
);
CREATE INDEX IF NOT EXISTS claimed_by_age ON walrelay_inbox.claimed (claimed_at);

-- True for the first transaction that claims the message and commits.
CREATE OR REPLACE FUNCTION walrelay_inbox.claim(message_id text, consumer text DEFAULT '')
RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    INSERT INTO walrelay_inbox.claimed AS c (consumer, message_id)
    VALUES (claim.consumer, claim.message_id)
        ON CONFLICT ON CONSTRAINT claimed_pkey DO NOTHING;
    RETURN FOUND;
END $$;

-- Forgets claims older than `age`, at most `at_most` of them; returns how many. Run it again until
-- it returns 0. `age` must exceed the time after which the stream can no longer deliver a message
-- again: max_age of the stream, or what replays reach back to.
CREATE OR REPLACE FUNCTION walrelay_inbox.purge(age interval, at_most int DEFAULT 10000)
RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    gone bigint;
BEGIN
    DELETE FROM walrelay_inbox.claimed
     WHERE ctid = ANY (ARRAY(SELECT ctid FROM walrelay_inbox.claimed
                              WHERE claimed_at < now() - age ORDER BY claimed_at LIMIT at_most));
    GET DIAGNOSTICS gone = ROW_COUNT;
    RETURN gone;
END $$;
