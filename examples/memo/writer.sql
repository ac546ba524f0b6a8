-- What the service does when a memo is written: the memo and the intent to send a mail about it, in
-- one serializable transaction. Each run makes a memo of its own.
BEGIN ISOLATION LEVEL SERIALIZABLE;
WITH memo AS (
    INSERT INTO memos (memo_number_prefix, department_code, title, purpose)
    VALUES ('FIN-2024', 'FIN', 'Travel budget', 'Approve the travel budget of the next quarter.')
    RETURNING id, memo_number_prefix, memo_number_sequence, title, purpose
)
INSERT INTO email_outbox (memo_id, event_type, payload, recipient_email, notification_type,
                          idempotency_key)
SELECT id, 'memo.created',
       jsonb_build_object(
           'subject', 'Memo ' || memo_number_prefix || '-' || memo_number_sequence || ': ' || title,
           'body', purpose),
       'director@example.org', 'approval_request', id || '-memo.created-director@example.org'
FROM memo;
COMMIT;
