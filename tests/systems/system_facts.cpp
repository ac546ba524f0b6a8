// See system_facts.hpp.
#include "systems/system_facts.hpp"

#include <array>
#include <stdexcept>

namespace walrelay::test {
namespace {

system_facts events() {
    return {.example = "events",
            .table = "outbox_events",
            .business_table = "users",
            .rows_per_write = 2,
            .message_id = "id::text",
            .state = "status",
            .published = "published",
            .dead = "dead_letter",
            .published_noted = "published_at IS NOT NULL AND version = 2",
            .dead_noted = "failed_at IS NOT NULL AND last_error <> '' AND version = 1",
            .poller_mark = "status = 'published', published_at = now(), version = version + 1",
            .half_way = "status = 'failed', retry_count = 1, next_retry_at = now()",
            // Larger than max_payload.
            .poison =
                "INSERT INTO outbox_events (id, aggregate_id, aggregate_type, event_type,"
                " event_data, status, version, created_at) VALUES (gen_random_uuid(), 'u',"
                " 'user', 'user.created', jsonb_build_object('x', repeat('x', 1100000)),"
                " 'pending', 1, now()) RETURNING id",
            .cure = "event_data = '{}'",
            .replay = "status = 'pending', retry_count = 0, last_error = NULL"};
}

system_facts clinic() {
    return {.example = "clinic",
            .table = "outbox",
            .business_table = "event_store",
            .rows_per_write = 2,
            .business_rows_per_write = 2,
            .message_id = "id::text",
            .state =
                "CASE WHEN published THEN 'published' WHEN retry_count > 0 THEN 'failing'"
                " ELSE 'open' END",
            .published = "published",
            .dead = "failing",
            .published_noted = "published_at BETWEEN created_at AND now() AT TIME ZONE 'UTC'",
            .dead_noted = "published_at IS NULL",
            .poller_mark = "published = true, published_at = now() AT TIME ZONE 'UTC'",
            .half_way = "retry_count = 2",
            // Nothing to make a subject of.
            .poison =
                "INSERT INTO outbox (id, aggregate_id, event_type, event_data, metadata,"
                " created_at) VALUES (gen_random_uuid(), gen_random_uuid(), '', '{}', '{}',"
                " now() AT TIME ZONE 'UTC') RETURNING id",
            .cure = "event_type = 'PatientRegistered'",
            .replay = "published = false, published_at = NULL, retry_count = 0"};
}

system_facts memo() {
    return {.example = "memo",
            .table = "email_outbox",
            .business_table = "memos",
            .message_id = "coalesce(idempotency_key, id::text)",
            .state = "status",
            // SENDING and SENT are set by who sends the mail.
            .published = "PENDING",
            .dead = "FAILED",
            .dead_noted = "error_message <> '' AND meta_updated_at IS NOT NULL",
            .poller_mark = "status = 'SENT', sent_at = now()",
            .half_way = "retry_count = 2, last_attempt_at = now()",
            .poison =
                "INSERT INTO email_outbox (event_type, payload, recipient_email)"
                " VALUES (NULL, '{}', 'nobody@example.org') RETURNING id",
            .cure = "event_type = 'memo.created'",
            .replay = "status = 'PENDING', retry_count = 0, error_message = NULL"};
}

system_facts bento() {
    return {.example = "bento",
            .table = "outbox",
            .business_table = "orders",
            .rows_per_write = 2,
            .message_id = "id",
            .state = "status",
            .published = "SENT",
            .dead = "DEAD",
            .dead_noted = "error_message <> ''",
            .poller_mark = "status = 'SENT'",
            .half_way = "status = 'PUBLISHING'",
            .poison =
                "INSERT INTO outbox (id, tenant_id, topic, payload, event_metadata)"
                " VALUES (gen_random_uuid()::text, 'acme', 'order.placed',"
                " to_json(repeat('x', 1100000)), '{}') RETURNING id",
            .cure = "payload = '{}'",
            .replay = "status = 'NEW'"};
}

system_facts wallet() {
    return {.example = "wallet",
            .table = "outbox",
            .business_table = "wallet",
            .rows_per_write = 2,
            .message_id = "'wallet-' || id",
            .state = "CASE WHEN sent THEN 'sent' ELSE 'open' END",
            .published = "sent",
            // There is no column for it: walrelay.dead_letter tells.
            .dead = "open",
            .poller_mark = "sent = true",
            .half_way = "sent = false",
            .poison =
                "INSERT INTO outbox (event_type, payload, created_at)"
                " VALUES ('FundsAdded', repeat('x', 1100000), localtimestamp)"
                " RETURNING 'wallet-' || id",
            .cure = "payload = '{}'",
            .replay = "sent = false"};
}

}  // namespace

const system_facts& facts_of(std::string_view example) {
    static const std::array all{events(), clinic(), memo(), bento(), wallet()};
    for (const auto& each : all) {
        if (each.example == example) {
            return each;
        }
    }
    throw std::invalid_argument("no system " + std::string(example));
}

}  // namespace walrelay::test
