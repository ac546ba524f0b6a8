-- What the service does when it saves an aggregate: every event goes into the event store, and one
-- outbox row for each event goes with it, in one transaction. Each run makes a patient of its own.
BEGIN;
WITH patient AS (
    SELECT gen_random_uuid() AS id, timezone('UTC', clock_timestamp()) AS at
), stored AS (
    INSERT INTO event_store (aggregate_id, event_type, event_data, version, "timestamp")
    SELECT id, 'PatientRegistered',
           jsonb_build_object('patientId', id, 'name', 'Grace', 'ward', 'B 4'), 1, at
    FROM patient
    UNION ALL
    SELECT id, 'AppointmentBooked',
           jsonb_build_object('patientId', id, 'with', 'Dr. Hopper', 'minutes', 20), 2, at
    FROM patient
    RETURNING aggregate_id, event_type, event_data, version, "timestamp"
)
INSERT INTO outbox (id, aggregate_id, event_type, event_data, metadata, created_at)
SELECT gen_random_uuid(), aggregate_id, event_type, event_data,
       jsonb_build_object('version', version, 'user', 'reception'), "timestamp"
FROM stored
ORDER BY version;
COMMIT;
