// Outbox tables as libraries make them, a row of each, and the message that it becomes.
#pragma once

#include <array>
#include <ostream>
#include <string_view>
#include <vector>

namespace walrelay::test {

struct known_table {
    std::string_view name;
    std::string_view table;
    std::string_view definition;
    std::string_view insert;
    std::string_view id;
    std::string_view subject;
    std::vector<std::string_view> body;
    /// Lines of the printed file.
    std::vector<std::string_view> proposed = {};

    friend std::ostream& operator<<(std::ostream& out, const known_table& of) {
        return out << of.name;
    }
};

inline const std::array known_tables = {
    known_table{
        .name = "Debezium",
        .table = "outboxevent",
        .definition =
            "CREATE TABLE outboxevent (id uuid PRIMARY KEY, aggregatetype varchar(255) NOT "
            "NULL, aggregateid varchar(255) NOT NULL, type varchar(255) NOT NULL, "
            "\"timestamp\" timestamp NOT NULL, payload varchar(8000), "
            "tracingspancontext varchar(256))",
        .insert =
            "INSERT INTO outboxevent VALUES ('70c6a7f2-bd7b-4dfc-8500-bc20e772fa52', 'Order', "
            "'42', 'OrderCreated', now(), '{\"total\": 3}', NULL); DELETE FROM outboxevent",
        .id = "70c6a7f2-bd7b-4dfc-8500-bc20e772fa52",
        .subject = "events.Order.OrderCreated",
        .body = {R"("aggregate_id":"42")", R"("event_type":"OrderCreated")", "total",
                 "\"timestamp\":"}},
    known_table{
        .name = "PgTransactionalOutbox",
        .table = "outbox",
        .definition =
            "CREATE TABLE outbox (id uuid PRIMARY KEY, aggregate_type text NOT NULL, aggregate_id "
            "text NOT NULL, message_type text NOT NULL, segment text, concurrency text NOT NULL "
            "DEFAULT 'sequential', payload jsonb NOT NULL, metadata jsonb, locked_until "
            "timestamptz NOT NULL DEFAULT to_timestamp(0), created_at timestamptz NOT NULL DEFAULT "
            "clock_timestamp(), processed_at timestamptz, abandoned_at timestamptz, "
            "started_attempts smallint NOT NULL DEFAULT 0, finished_attempts smallint NOT NULL "
            "DEFAULT 0)",
        .insert = "INSERT INTO outbox (id, aggregate_type, aggregate_id, message_type, payload) "
                  "VALUES ('70c6a7f2-bd7b-4dfc-8500-bc20e772fa52', 'movie', '7', 'movie_created', "
                  "'{\"title\": \"x\"}')",
        .id = "70c6a7f2-bd7b-4dfc-8500-bc20e772fa52",
        .subject = "events.movie.movie_created",
        .body = {R"("aggregate_id":"7")", R"("event_data":{"title": "x"})"},
        .proposed = {"#pending = \"processed_at IS NULL AND abandoned_at IS NULL\"",
                     "#republish = { column = \"processed_at\", is = \"null\" }"}},
    known_table{
        .name = "DjangoOutboxPattern",
        .table = "published",
        .definition =
            "CREATE TABLE published (id bigserial PRIMARY KEY, destination varchar(255) NOT NULL, "
            "body jsonb NOT NULL, version varchar(100) NOT NULL, headers jsonb NOT NULL DEFAULT "
            "'{}', added timestamptz NOT NULL DEFAULT now(), expires_at timestamptz NOT NULL "
            "DEFAULT now(), retry int NOT NULL DEFAULT 0, status int NOT NULL DEFAULT 1)",
        .insert =
            "INSERT INTO published (destination, body, version) VALUES ('orders', '{\"n\": 1}', "
            "'v1')",
        .id = "1",
        .subject = "events.orders",
        .body = {R"("event_type":"orders")", R"("event_data":{"n": 1})", R"("metadata":{})"},
        .proposed = {"#pending = \"status = 1\"",
                     "#republish = { column = \"status\", value = \"1\" }", "version = \"\""}},
    known_table{
        .name = "DjangoJaiminho",
        .table = "jaiminho_event",
        .definition =
            "CREATE TABLE jaiminho_event (id bigserial PRIMARY KEY, message bytea NOT NULL, "
            "function bytea, kwargs bytea, stream varchar(100), created_at timestamptz NOT NULL "
            "DEFAULT now(), sent_at timestamptz)",
        .insert = "INSERT INTO jaiminho_event (message) VALUES ('{\"n\": 1}')",
        .id = "1",
        .subject = "events.none",
        .body = {R"({"n": 1})"},
        .proposed = {"stream can be NULL", "body = \"payload\"", "#pending = \"sent_at IS NULL\"",
                     "subject = \"events.{event_type|'none'}\"",
                     "#republish = { column = \"sent_at\", is = \"null\" }"}},
    known_table{
        .name = "FaststreamOutbox",
        .table = "outbox",
        .definition =
            "CREATE TABLE outbox (id bigserial PRIMARY KEY, queue varchar(255) NOT NULL, payload "
            "bytea NOT NULL, headers jsonb, attempts_count bigint NOT NULL DEFAULT 0, created_at "
            "timestamptz NOT NULL DEFAULT now(), first_attempt_at timestamptz, next_attempt_at "
            "timestamptz NOT NULL DEFAULT now(), last_attempt_at timestamptz, acquired_at "
            "timestamptz, acquired_token uuid)",
        .insert = "INSERT INTO outbox (queue, payload) VALUES ('orders', 'abc')",
        .id = "1",
        .subject = "events.orders",
        .body = {"abc"}},
    known_table{
        .name = "OutboxStreaming",
        .table = "outbox_kafka",
        .definition = "CREATE TABLE outbox_kafka (id bigserial PRIMARY KEY, topic varchar(255) NOT "
                      "NULL, key bytea, value bytea NOT NULL)",
        .insert = "INSERT INTO outbox_kafka (topic, key, value) VALUES ('orders', '7', 'abc')",
        .id = "1",
        .subject = "events.orders",
        .body = {"abc"}},
    known_table{
        .name = "WatermillSql",
        .table = "watermill_orders",
        .definition =
            "CREATE TABLE watermill_orders (\"offset\" bigserial, uuid varchar(36) NOT NULL, "
            "created_at timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP, payload json DEFAULT NULL, "
            "metadata json DEFAULT NULL, transaction_id xid8 NOT NULL, PRIMARY KEY "
            "(transaction_id, \"offset\"))",
        .insert = "INSERT INTO watermill_orders (uuid, payload, metadata, transaction_id) VALUES "
                  "('u1', '{\"n\": 1}', '{}', pg_current_xact_id())",
        .id = "u1",
        .subject = "events.watermill_orders",
        .body = {R"("id":"u1")", R"("event_data":{"n": 1})"}},
    known_table{
        .name = "WatermillQueue",
        .table = "watermill_queue",
        .definition =
            "CREATE TABLE watermill_queue (\"offset\" bigserial PRIMARY KEY, uuid varchar(36) NOT "
            "NULL, created_at timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP, payload bytea, "
            "metadata json, acked boolean NOT NULL DEFAULT false)",
        .insert = "INSERT INTO watermill_queue (uuid, payload, metadata) VALUES ('u1', 'abc', "
                  "'{}')",
        .id = "u1",
        .subject = "events.watermill_queue",
        .body = {"abc"},
        .proposed = {"#pending = \"NOT acked\"", "#on_published = \"acked = true\""}},
    known_table{
        .name = "Gruelbox",
        .table = "txno_outbox",
        .definition = "CREATE TABLE txno_outbox (id varchar(36) PRIMARY KEY, invocation text, "
                      "nextattempttime "
                      "timestamp(6), attempts int, blocked boolean, version int, uniquerequestid "
                      "varchar(250) "
                      "UNIQUE, processed boolean, lastattempttime timestamp(6))",
        .insert = "INSERT INTO txno_outbox (id, invocation, attempts, blocked, version, processed) "
                  "VALUES ('a1', '{\"c\":\"Mailer\"}', 0, false, 0, false)",
        .id = "a1",
        .subject = "events.txno_outbox",
        .body = {R"("id":"a1")", "Mailer"},
        .proposed = {"version = \"\"", "#pending = \"NOT processed\"",
                     "#on_published = \"processed = true\""}},
    known_table{
        .name = "SpringModulith",
        .table = "event_publication",
        .definition =
            "CREATE TABLE event_publication (id uuid PRIMARY KEY, listener_id text NOT NULL, "
            "event_type text NOT NULL, serialized_event text NOT NULL, publication_date "
            "timestamptz "
            "NOT NULL, completion_date timestamptz)",
        .insert = "INSERT INTO event_publication VALUES ('70c6a7f2-bd7b-4dfc-8500-bc20e772fa52', "
                  "'mailer', 'OrderCompleted', '{\"order\":1}', now(), NULL)",
        .id = "70c6a7f2-bd7b-4dfc-8500-bc20e772fa52",
        .subject = "events.OrderCompleted",
        .body = {R"("event_type":"OrderCompleted")", "order", "\"timestamp\":"},
        .proposed = {"#on_published = \"completion_date = now()\""}},
    known_table{
        .name = "Wolverine",
        .table = "wolverine_outgoing_envelopes",
        .definition =
            "CREATE TABLE wolverine_outgoing_envelopes (id uuid PRIMARY KEY, owner_id int NOT "
            "NULL, "
            "destination varchar NOT NULL, deliver_by timestamptz, body bytea NOT NULL, attempts "
            "int DEFAULT 0, message_type varchar NOT NULL)",
        .insert = "INSERT INTO wolverine_outgoing_envelopes VALUES "
                  "('70c6a7f2-bd7b-4dfc-8500-bc20e772fa52', 0, 'tcp://x', NULL, 'abc', 0, 'Ping')",
        .id = "70c6a7f2-bd7b-4dfc-8500-bc20e772fa52",
        .subject = "events.Ping",
        .body = {"abc"}},
    known_table{
        .name = "MassTransit",
        .table = "\"OutboxMessage\"",
        .definition =
            "CREATE TABLE \"OutboxMessage\" (\"SequenceNumber\" bigint GENERATED BY DEFAULT AS "
            "IDENTITY PRIMARY KEY, \"EnqueueTime\" timestamptz, \"SentTime\" timestamptz NOT NULL, "
            "\"Headers\" text, \"Properties\" text, \"InboxMessageId\" uuid, \"InboxConsumerId\" "
            "uuid, \"OutboxId\" uuid, \"MessageId\" uuid NOT NULL, \"ContentType\" varchar(256) "
            "NOT "
            "NULL, \"MessageType\" text NOT NULL, \"Body\" text NOT NULL, \"ConversationId\" uuid, "
            "\"CorrelationId\" uuid, \"DestinationAddress\" varchar(256))",
        .insert = "INSERT INTO \"OutboxMessage\" (\"SentTime\", \"MessageId\", \"ContentType\", "
                  "\"MessageType\", \"Body\") VALUES (now(), "
                  "'70c6a7f2-bd7b-4dfc-8500-bc20e772fa52', 'application/json', 'OrderPlaced', "
                  "'{\"n\":1}')",
        .id = "70c6a7f2-bd7b-4dfc-8500-bc20e772fa52",
        .subject = "events.OrderPlaced",
        .body = {R"("event_type":"OrderPlaced")", "event_data"}},
    known_table{
        .name = "EntityFramework",
        .table = "\"OutboxMessages\"",
        .definition = "CREATE TABLE \"OutboxMessages\" (\"Id\" uuid PRIMARY KEY, \"Type\" text NOT "
                      "NULL, \"Content\" text NOT NULL, \"OccurredOnUtc\" timestamptz NOT NULL, "
                      "\"ProcessedOnUtc\" timestamptz, \"Error\" text)",
        .insert = "INSERT INTO \"OutboxMessages\" VALUES ('70c6a7f2-bd7b-4dfc-8500-bc20e772fa52', "
                  "'UserCreated', '{\"n\":1}', now(), NULL, NULL)",
        .id = "70c6a7f2-bd7b-4dfc-8500-bc20e772fa52",
        .subject = "events.UserCreated",
        .body = {R"("event_type":"UserCreated")", "event_data", "\"timestamp\":"},
        .proposed = {R"(#pending = "\"ProcessedOnUtc\" IS NULL")"}},
    known_table{
        .name = "Axon",
        .table = "domain_event_entry",
        .definition =
            "CREATE TABLE domain_event_entry (global_index bigserial PRIMARY KEY, event_identifier "
            "varchar(255) NOT NULL UNIQUE, meta_data bytea, payload bytea NOT NULL, "
            "payload_revision varchar(255), payload_type varchar(255) NOT NULL, time_stamp "
            "varchar(255) NOT NULL, aggregate_identifier varchar(255) NOT NULL, sequence_number "
            "bigint NOT NULL, type varchar(255))",
        .insert = "INSERT INTO domain_event_entry (event_identifier, payload, payload_type, "
                  "time_stamp, aggregate_identifier, sequence_number, type) VALUES ('e1', '<x/>', "
                  "'CardIssued', '2026-01-01T00:00:00Z', 'a1', 0, 'Card')",
        .id = "e1",
        .subject = "events.Card.CardIssued",
        .body = {"<x/>"}},
    known_table{.name = "EventuateTram",
                .table = "message",
                .definition =
                    "CREATE TABLE message (id varchar(767) PRIMARY KEY, destination text NOT NULL, "
                    "headers text NOT NULL, payload text NOT NULL, published smallint DEFAULT 0, "
                    "message_partition smallint, creation_time bigint)",
                .insert = "INSERT INTO message (id, destination, headers, payload) VALUES ('m1', "
                          "'orders', '{}', '{\"n\":1}')",
                .id = "m1",
                .subject = "events.orders",
                .body = {R"("event_type":"orders")", "event_data"},
                .proposed = {"#pending = \"published = 0\"", "#on_published = \"published = 1\""}},
    known_table{
        .name = "Rails",
        .table = "outbox_events",
        .definition =
            "CREATE TABLE outbox_events (id bigserial PRIMARY KEY, event varchar NOT NULL, "
            "eventable_type varchar NOT NULL, eventable_id bigint NOT NULL, payload jsonb "
            "NOT NULL, published_at timestamp, created_at timestamp NOT NULL DEFAULT "
            "now())",
        .insert = "INSERT INTO outbox_events (event, eventable_type, eventable_id, payload) VALUES "
                  "('created', 'Order', 7, '{\"n\": 1}')",
        .id = "1",
        .subject = "events.Order.created",
        .body = {R"("aggregate_id":7)", R"("event_type":"created")", R"("event_data":{"n": 1})"},
        .proposed = {"#pending = \"published_at IS NULL\""}}};

}  // namespace walrelay::test
