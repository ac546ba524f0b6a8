-- What the service does when somebody opens a wallet and pays in: the wallet and its events, in one
-- transaction. Each run makes a wallet of its own.
BEGIN;
WITH opened AS (
    INSERT INTO wallet (owner, balance) VALUES ('Mary', 25.50) RETURNING id, owner, balance
), request AS (
    SELECT gen_random_uuid()::text AS correlation_id
), events (number, event_type, payload) AS (
    SELECT 1, 'WalletCreated', format('{"walletId":%s,"owner":"%s"}', id, owner) FROM opened
    UNION ALL
    SELECT 2, 'FundsAdded', format('{"walletId":%s,"amount":%s}', id, balance) FROM opened
)
INSERT INTO outbox (event_type, payload, correlation_id, created_at)
SELECT event_type, payload, correlation_id, localtimestamp
FROM request CROSS JOIN events
ORDER BY number;
COMMIT;
