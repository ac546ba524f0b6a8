-- The same outbox in a partition for each day, for tables with millions of rows a day: what is old
-- goes with one DROP TABLE, without dead rows and without vacuum. Runs in psql as it is, and again
-- without harm. From cron, once a day:
--
--     SELECT walrelay.keep_outbox_partitions(keep_days => 7, ahead_days => 7);
--
-- Keep more days than the longest time that walrelay may be down: a partition that is dropped takes
-- along what `walrelay verify` and on_slot_loss = "heal" look for. What is in the WAL already is
-- relayed all the same.
\set ON_ERROR_STOP on

CREATE TABLE IF NOT EXISTS outbox_events_partitioned (
    id             uuid NOT NULL DEFAULT gen_random_uuid(),
    aggregate_type text NOT NULL,
    event_type     text NOT NULL,
    aggregate_id   text NOT NULL,
    event_data     jsonb NOT NULL,
    metadata       jsonb,
    version        int NOT NULL DEFAULT 1,
    created_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- A key of a partitioned table holds what it is partitioned by.
    PRIMARY KEY (id, created_at)
) PARTITION BY RANGE (created_at);

-- The days that no partition was made for. It stays empty while the function below is run.
CREATE TABLE IF NOT EXISTS outbox_events_partitioned_rest
    PARTITION OF outbox_events_partitioned DEFAULT;

CREATE SCHEMA IF NOT EXISTS walrelay;

-- Makes the partitions of today and of the days ahead, and drops those that ended keep_days ago.
-- Returns what it made and dropped. Days are those of UTC.
CREATE OR REPLACE FUNCTION walrelay.keep_outbox_partitions(
    keep_days int DEFAULT 7, ahead_days int DEFAULT 7,
    outbox regclass DEFAULT 'outbox_events_partitioned')
RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    parent_schema name := (SELECT relnamespace::regnamespace FROM pg_class WHERE oid = outbox);
    parent_name   name := (SELECT relname FROM pg_class WHERE oid = outbox);
    today         date := (now() AT TIME ZONE 'UTC')::date;
    first_day     date;
    partition     name;
BEGIN
    IF keep_days < 1 OR ahead_days < 1 THEN
        RAISE EXCEPTION 'keep_days and ahead_days are at least 1';
    END IF;
    FOR first_day IN SELECT today + n FROM generate_series(0, ahead_days) AS n LOOP
        partition := parent_name || to_char(first_day, '_YYYYMMDD');
        IF to_regclass(format('%I.%I', parent_schema, partition)) IS NULL THEN
            -- CREATE ... PARTITION OF, because walrelay recognises a partition that is made so.
            EXECUTE format('CREATE TABLE %I.%I PARTITION OF %s FOR VALUES FROM (%L) TO (%L)',
                           parent_schema, partition, outbox,
                           first_day::timestamp AT TIME ZONE 'UTC',
                           (first_day + 1)::timestamp AT TIME ZONE 'UTC');
            RETURN NEXT 'made ' || partition;
        END IF;
    END LOOP;
    FOR partition, first_day IN
        SELECT c.relname, to_date(right(c.relname, 8), 'YYYYMMDD')
          FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid
         WHERE i.inhparent = outbox AND c.relname ~ '_[0-9]{8}$'
         ORDER BY c.relname
    LOOP
        IF first_day + 1 <= today - keep_days THEN
            EXECUTE format('DROP TABLE %I.%I', parent_schema, partition);
            RETURN NEXT 'dropped ' || partition;
        END IF;
    END LOOP;
END $$;

SELECT walrelay.keep_outbox_partitions();
