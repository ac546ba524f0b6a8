-- Writes ten events a second for ever, as a service would: each a row of the outbox.
INSERT INTO outbox_events (aggregate_type, aggregate_id, event_type, event_data)
VALUES ('order', (random() * 100)::int, 'order.placed', jsonb_build_object('at', clock_timestamp()))
\watch 0.1
