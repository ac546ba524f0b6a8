// See outbox_events.hpp.
#include "support/outbox_events.hpp"

#include "support/postgres_session.hpp"

#include <algorithm>

namespace walrelay::test {
namespace {

constexpr const char* columns = R"( (
    id uuid PRIMARY KEY,
    aggregate_id varchar(255) NOT NULL,
    aggregate_type varchar(255) NOT NULL,
    event_type varchar(255) NOT NULL,
    event_data jsonb NOT NULL,
    metadata jsonb,
    status varchar(50) NOT NULL,
    version bigint NOT NULL,
    created_at timestamptz NOT NULL,
    published_at timestamptz,
    failed_at timestamptz,
    retry_count int DEFAULT 0,
    max_retries int DEFAULT 3,
    last_error text,
    next_retry_at timestamptz
);
)";

constexpr const char* id_of_n = "('00000000-0000-0000-0000-' || lpad(n::text, 12, '0'))::uuid";

}  // namespace

std::string create_outbox_events(const std::string& table) {
    return "CREATE TABLE " + table + columns + "CREATE INDEX ON " + table + " (status);\n" +
           "CREATE INDEX ON " + table + " (created_at);\n" + "CREATE INDEX ON " + table +
           " (aggregate_type, aggregate_id);\n";
}

std::string event_id(std::uint64_t number) {
    constexpr std::size_t width = 12;
    const auto digits = std::to_string(number);
    return "00000000-0000-0000-0000-" + std::string(width - std::min(width, digits.size()), '0') +
           digits;
}

std::string insert_event_of(const std::string& number, const std::string& table) {
    return "INSERT INTO " + table +
           " (id, aggregate_id, aggregate_type, event_type, event_data, status, version, "
           "created_at)"
           " SELECT " +
           id_of_n + ", 'order-1', 'order', 'placed', jsonb_build_object('n', n), 'pending', n," +
           " clock_timestamp() FROM (SELECT " + number + ") AS row (n);\n";
}

std::string insert_events(std::uint64_t first, std::uint64_t last, const std::string& aggregate,
                          const std::string& table) {
    return "INSERT INTO " + table +
           " (id, aggregate_id, aggregate_type, event_type, event_data, metadata, status, version,"
           " created_at) SELECT " +
           id_of_n + ", " + as_literal(aggregate) +
           ", 'order', 'placed', jsonb_build_object('n', n, 'note', 'order number ' || n),"
           " '{\"source\": \"test\"}', 'pending', n, clock_timestamp()"
           " FROM generate_series(" +
           std::to_string(first) + ", " + std::to_string(last) + ") AS n ORDER BY n;\n";
}

}  // namespace walrelay::test
