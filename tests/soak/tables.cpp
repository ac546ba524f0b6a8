// See tables.hpp.
#include "soak/tables.hpp"

#include "support/outbox_events.hpp"

#include <fmt/format.h>

namespace walrelay::soak {
namespace {

constexpr const char* keys_of_events =
    "subject = 'chaos.{aggregate_type}.{event_type}'\n"
    "body = 'payload'\n"
    "pending = \"status = 'pending'\"\n"
    "on_published = \"status = 'published', published_at = now()\"\n"
    "on_dead_letter = \"status = 'dead', last_error = {error}, retry_count = {attempts}\"\n";

constexpr const char* further_outboxes =
    "[[outbox]]\n"
    "table = 'public.outbox_tasks'\n"
    "subject = 'chaos.{aggregate_type}.{event_type}'\n"
    "body = 'payload'\n"
    "delete_after = '0s'\n"
    "republish = { column = 'status', value = 'pending' }\n"
    "[[outbox]]\n"
    "table = 'public.outbox_parts'\n"
    "subject = 'chaos.{aggregate_type}.{event_type}'\n"
    "body = 'payload'\n";

constexpr const char* partitioned_outbox = R"(
CREATE TABLE outbox_parts (
    id uuid NOT NULL,
    aggregate_id text NOT NULL,
    aggregate_type text NOT NULL,
    event_type text NOT NULL,
    event_data jsonb NOT NULL,
    status text NOT NULL,
    version bigint NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (id, created_at)
) PARTITION BY RANGE (created_at);
)";

/// Nothing of this has to do with any outbox.
constexpr const char* other_tables = R"(
CREATE SCHEMA other;
CREATE TABLE other.ledger (id bigserial PRIMARY KEY, note text, at timestamptz DEFAULT now());
INSERT INTO other.ledger (note) SELECT 'entry ' || n FROM generate_series(1, 2000) AS n;
CREATE TABLE other.locked (id int PRIMARY KEY);
CREATE TABLE other.indexed AS SELECT n, md5(n::text) AS text FROM generate_series(1, 2000) AS n;
)";

}  // namespace

std::string name_of(outbox table) {
    switch (table) {
        case outbox::tasks:
            return "outbox_tasks";
        case outbox::parts:
            return "outbox_parts";
        case outbox::events:
            break;
    }
    return "outbox_events";
}

std::string insert_row(outbox table, const row_text& row) {
    const auto note =
        row.too_large ? fmt::format("repeat('large ', {})", largest_message_bytes / 5) : "'usual'";
    return fmt::format(
        "INSERT INTO {} (id, aggregate_id, aggregate_type, event_type, event_data, status, version,"
        " created_at) VALUES ('{}', '{}', 'order', 'placed',"
        " jsonb_build_object('n', {}, 'note', {}), '{}', 1, clock_timestamp());\n",
        name_of(table), test::event_id(row.number), row.poison ? "poison" : "good", row.number,
        note, table == outbox::tasks ? "new" : "pending");
}

std::string make_partitions(std::chrono::seconds width) {
    constexpr int ahead = 12;
    return fmt::format(
        R"(DO $$
DECLARE
    width int := {};
    first int := floor(extract(epoch FROM clock_timestamp()) / width);
BEGIN
    FOR n IN first .. first + {} LOOP
        IF to_regclass('public.outbox_parts_' || n) IS NULL THEN
            EXECUTE format('CREATE TABLE outbox_parts_%s PARTITION OF outbox_parts'
                           ' FOR VALUES FROM (%L) TO (%L)', n,
                           to_timestamp(n::bigint * width), to_timestamp((n + 1)::bigint * width));
        END IF;
    END LOOP;
END $$;)",
        width.count(), ahead);
}

chaos::arena_options arena_for(const std::filesystem::path& relay_program,
                               const std::string& plugin) {
    return {.relay_program = relay_program,
            .plugin = plugin,
            .outbox = keys_of_events,
            .more_outboxes = further_outboxes,
            .postgres_settings = {"max_prepared_transactions = 4", "autovacuum = on",
                                  "autovacuum_naptime = 5s", "checkpoint_timeout = 1min"},
            .nats_settings = {fmt::format("max_payload: {}", largest_message_bytes)}};
}

void make_tables(chaos::arena& where, const pace& how) {
    auto session = where.session();
    session.execute(test::create_outbox_events("outbox_tasks") +
                    "ALTER TABLE outbox_tasks REPLICA IDENTITY FULL;");
    session.execute(partitioned_outbox);
    session.execute(make_partitions(how.partition));
    session.execute(other_tables);
}

}  // namespace walrelay::soak
