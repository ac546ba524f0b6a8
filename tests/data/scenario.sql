-- What the golden captures hold. Run by make_captures.sh in one session of psql; the lines between
-- \! make up the second session of the interleaved transactions.
\set ON_ERROR_STOP on

-- Types -----------------------------------------------------------------------------------------
CREATE TYPE mood AS ENUM ('fine', 'it''s "odd"');
CREATE DOMAIN document AS jsonb CHECK (VALUE IS NOT NULL);
CREATE DOMAIN flag AS boolean;
CREATE DOMAIN digest AS bytea;
CREATE TABLE every_type (
    id          uuid PRIMARY KEY,
    kind        varchar(40),
    note        text,
    j           json,
    jb          jsonb,
    ok          boolean,
    i2          smallint,
    i4          integer,
    i8          bigint,
    num         numeric,
    f4          real,
    f8          double precision,
    bin         bytea,
    at          timestamptz,
    local_at    timestamp,
    day         date,
    pause       interval,
    texts       text[],
    numbers     integer[],
    feeling     mood,
    doc         document,
    domain_flag flag,
    domain_bin  digest,
    fixed       char(5),
    who         oid,
    address     inet
);
INSERT INTO every_type VALUES (
    '00000000-0000-0000-0000-000000000001', 'order.created', 'plain',
    '{"a" :  1,   "b":[1,2 ,3]}', '{"b": 2, "a": {"deep": [null, true, 1.50]}}',
    true, -32768, 2147483647, -9223372036854775808, 12345678901234567890.0123456789, 0.1, 0.1,
    '\xdeadbeef00', '2026-01-31 12:34:56.789+00', '2026-01-31 12:34:56', '2026-01-31',
    '1 day 02:03:04.5', '{"a,b","c\"d",NULL,""}', '{1,NULL,-3}', 'it''s "odd"', '{"in": "domain"}',
    false, '\x00ff', 'ab', 4294967295, '192.0.2.1/24');
INSERT INTO every_type (id, note, doc) VALUES
    ('00000000-0000-0000-0000-000000000002', NULL, 'null'),
    ('00000000-0000-0000-0000-000000000003', '', '[]'),
    ('00000000-0000-0000-0000-000000000004', E'quote " apostrophe '' backslash \\ slash /', '""'),
    ('00000000-0000-0000-0000-000000000005', E'tab\tline\nreturn\rback\bform\f', '"\u00e9"'),
    ('00000000-0000-0000-0000-000000000006', E'\x01\x02\x1b\x1f\x7f', '"\\u0041"'),
    ('00000000-0000-0000-0000-000000000007', U&'\00e9\4e2d\+01f600\2028', '"😀"'),
    ('00000000-0000-0000-0000-000000000008', '{"looks": "like json"}', '{}');
INSERT INTO every_type (id, num, f4, f8, bin, doc) VALUES
    ('00000000-0000-0000-0000-000000000009', 'NaN', 'Infinity', '-Infinity', '', '1'),
    ('00000000-0000-0000-0000-00000000000a', -0.000, 1e-37, 1.7976931348623157e308, '\x5c78', '1e3'),
    ('00000000-0000-0000-0000-00000000000b', 1e40, -0.0, 5e-324, NULL, '-0');

-- An outbox as writers use it -------------------------------------------------------------------
CREATE TABLE outbox_events (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    aggregate_type text NOT NULL,
    aggregate_id   text NOT NULL,
    event_type     text NOT NULL,
    event_data     jsonb NOT NULL
);
INSERT INTO outbox_events (aggregate_type, aggregate_id, event_type, event_data)
    SELECT 'order', n::text, 'created', jsonb_build_object('n', n) FROM generate_series(1, 3) AS n;

-- Subtransactions and roll-backs ----------------------------------------------------------------
BEGIN;
INSERT INTO outbox_events (aggregate_type, aggregate_id, event_type, event_data)
    VALUES ('order', '4', 'kept', '{}');
SAVEPOINT one;
INSERT INTO outbox_events (aggregate_type, aggregate_id, event_type, event_data)
    VALUES ('order', '4', 'lost', '{}');
ROLLBACK TO one;
SAVEPOINT two;
INSERT INTO outbox_events (aggregate_type, aggregate_id, event_type, event_data)
    VALUES ('order', '4', 'kept too', '{}');
RELEASE two;
COMMIT;
BEGIN;
INSERT INTO outbox_events (aggregate_type, aggregate_id, event_type, event_data)
    VALUES ('order', '5', 'lost', '{}');
ROLLBACK;

-- Interleaved transactions: the second session commits first --------------------------------------
BEGIN;
INSERT INTO outbox_events (aggregate_type, aggregate_id, event_type, event_data)
    VALUES ('order', '6', 'first to insert', '{}');
\! psql --quiet --no-psqlrc --command "INSERT INTO outbox_events (aggregate_type, aggregate_id, event_type, event_data) VALUES ('order', '7', 'first to commit', '{}')"
INSERT INTO outbox_events (aggregate_type, aggregate_id, event_type, event_data)
    VALUES ('order', '6', 'last to commit', '{}');
COMMIT;

-- What is not relayed ---------------------------------------------------------------------------
UPDATE outbox_events SET event_type = 'changed' WHERE aggregate_id = '1';
UPDATE outbox_events SET id = DEFAULT WHERE aggregate_id = '2';
DELETE FROM outbox_events WHERE aggregate_id = '3';
TRUNCATE outbox_events;
CREATE TABLE empty_transaction ();
DROP TABLE empty_transaction;
SELECT pg_logical_emit_message(false, 'walrelay', 'in none');

-- Messages --------------------------------------------------------------------------------------
SELECT pg_logical_emit_message(true, 'walrelay', '{"in": "a transaction"}');
BEGIN;
SELECT pg_logical_emit_message(true, 'walrelay.retry', E'{"odd": "quote \\" back\\\\slash é 😀"}\n\t\x01');
INSERT INTO outbox_events (aggregate_type, aggregate_id, event_type, event_data)
    VALUES ('order', 'between', 'messages', '{}');
SELECT pg_logical_emit_message(true, 'walrelay', '');
COMMIT;

-- COPY ------------------------------------------------------------------------------------------
COPY outbox_events (aggregate_type, aggregate_id, event_type, event_data) FROM STDIN;
order	8	copied	{"text": "tab\\\\tand more"}
order	9	copied	[]
\.

-- Odd names -------------------------------------------------------------------------------------
CREATE SCHEMA "Odd ""Schema"".x";
CREATE TABLE "Odd ""Schema"".x"."Outbox \ Événements" (
    "Id" integer PRIMARY KEY, "a ""b"", c" text, "select" text, "naïve\name" text);
INSERT INTO "Odd ""Schema"".x"."Outbox \ Événements" VALUES (1, 'a', 'b', 'c');

-- A partitioned table ---------------------------------------------------------------------------
CREATE TABLE parted (id integer, region text, PRIMARY KEY (id, region)) PARTITION BY LIST (region);
CREATE TABLE parted_eu PARTITION OF parted FOR VALUES IN ('eu');
CREATE TABLE parted_us PARTITION OF parted FOR VALUES IN ('us');
INSERT INTO parted VALUES (1, 'eu'), (2, 'us'), (3, 'eu');

-- ALTER TABLE between, and inside, transactions ---------------------------------------------------
CREATE TABLE changing (id integer PRIMARY KEY, a text);
INSERT INTO changing VALUES (1, 'before');
ALTER TABLE changing ADD COLUMN b integer DEFAULT 7;
INSERT INTO changing VALUES (2, 'added', 8);
ALTER TABLE changing RENAME COLUMN a TO renamed;
INSERT INTO changing VALUES (3, 'renamed', 9);
ALTER TABLE changing DROP COLUMN renamed;
INSERT INTO changing VALUES (4, 10);
BEGIN;
INSERT INTO changing VALUES (5, 11);
ALTER TABLE changing ADD COLUMN c boolean;
INSERT INTO changing VALUES (6, 12, true);
COMMIT;
ALTER TABLE changing ALTER COLUMN b TYPE text;
INSERT INTO changing VALUES (7, '13', false);

-- A text that no page holds ---------------------------------------------------------------------
INSERT INTO outbox_events (aggregate_type, aggregate_id, event_type, event_data)
    VALUES ('order', '10', repeat('0123456789abcdef', 6400), '{"large": true}');
