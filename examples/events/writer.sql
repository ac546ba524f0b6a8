-- What the service does when a user signs up and then corrects the address: the business row and its
-- events, in one transaction. Each run makes a user of its own.
BEGIN;
DO $$ BEGIN PERFORM set_config('writer.user', gen_random_uuid()::text, true); END $$;

INSERT INTO users (id, email, name)
VALUES (current_setting('writer.user')::uuid, current_setting('writer.user') || '@exmaple.org',
        'Ada');
UPDATE users SET email = id || '@example.org', updated_at = now()
WHERE id = current_setting('writer.user')::uuid;

INSERT INTO outbox_events (id, aggregate_id, aggregate_type, event_type, event_data, metadata,
                           status, version, created_at)
VALUES
    (gen_random_uuid(), current_setting('writer.user'), 'user', 'user.created',
     jsonb_build_object('user_id', current_setting('writer.user'),
                        'email', current_setting('writer.user') || '@exmaple.org',
                        'name', 'Ada', 'timestamp', now()),
     '{"source": "user-service", "version": "1.0", "client_ip": "192.0.2.17"}',
     'pending', 1, clock_timestamp()),
    (gen_random_uuid(), current_setting('writer.user'), 'user', 'user.updated',
     jsonb_build_object('user_id', current_setting('writer.user'),
                        'changes', jsonb_build_object('email', jsonb_build_object(
                            'from', current_setting('writer.user') || '@exmaple.org',
                            'to', current_setting('writer.user') || '@example.org'))),
     '{"source": "user-service", "version": "1.0", "client_ip": "192.0.2.17"}',
     'pending', 1, clock_timestamp());
COMMIT;
