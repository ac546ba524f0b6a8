-- walrelay.publish: an event in one call, for writers that would rather not know the table. It is an
-- INSERT in the caller's transaction, no more: the event is relayed if that commits. Runs in psql as
-- it is, and again without harm; needs the table of sql/outbox.sql.
--
--     SELECT walrelay.publish('user', '42', 'user.created', '{"name": "Ada"}');
--
-- A writer needs USAGE on the schema walrelay and INSERT on the table.
\set ON_ERROR_STOP on

CREATE SCHEMA IF NOT EXISTS walrelay;

-- The id of the event. Give one where the writer tries again after an error that it cannot tell from
-- success: a second event with the same id is refused by the key (unique_violation).
CREATE OR REPLACE FUNCTION walrelay.publish(
    aggregate_type text, aggregate_id text, event_type text, event_data jsonb,
    metadata jsonb DEFAULT NULL, version int DEFAULT 1, id uuid DEFAULT gen_random_uuid())
RETURNS uuid LANGUAGE sql VOLATILE AS $$
    INSERT INTO public.outbox_events
        (id, aggregate_type, aggregate_id, event_type, event_data, metadata, version)
    VALUES (publish.id, publish.aggregate_type, publish.aggregate_id, publish.event_type,
            publish.event_data, publish.metadata, publish.version)
    RETURNING outbox_events.id
$$;
