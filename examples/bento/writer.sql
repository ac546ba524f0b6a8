-- What the service does when an order is placed and paid: the order and its events, in one
-- transaction. Each run makes an order of its own. The odd spacing of the payload is on purpose: json
-- keeps it, and so does the message.
BEGIN;
WITH placed AS (
    INSERT INTO orders (id, tenant_id, dish, amount)
    VALUES (gen_random_uuid()::text, 'acme', '便当', 2)
    RETURNING id, tenant_id, dish, amount
), events (number, topic, payload) AS (
    SELECT 1, 'order.placed',
           format('{"order":  "%s", "dish": "%s", "amount":%s, "amount_of": "boxes"}',
                  id, dish, amount)
    FROM placed
    UNION ALL
    SELECT 2, 'order.paid', format('{ "order" : "%s" }', id) FROM placed
)
INSERT INTO outbox (id, tenant_id, aggregate_id, aggregate_type, topic, occurred_at, payload,
                    event_metadata, routing_key, schema_id)
SELECT gen_random_uuid()::text, tenant_id, id, 'order', topic, now(), payload::json,
       '{"source": "shop", "user":"u-1"}', id, 'order-v1'
FROM placed CROSS JOIN events
ORDER BY number;
COMMIT;
