#include "postgres/catalog/slot_usage.hpp"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cstdint>

namespace walrelay::postgres {

std::string slot_usage_sql(std::string_view slot) {
    constexpr std::string_view sql = R"sql(
SELECT pg_wal_lsn_diff(wal.ends, s.confirmed_flush_lsn)::bigint AS lag,
       pg_wal_lsn_diff(wal.ends, s.restart_lsn)::bigint AS retained,
       s.safe_wal_size AS safe, s.wal_status AS status, age(s.catalog_xmin) AS xmin_age,
       (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS clock
  FROM pg_replication_slots AS s,
       (SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()
                    ELSE pg_current_wal_flush_lsn() END AS ends) AS wal
 WHERE s.slot_name = {}
)sql";
    return fmt::format(sql, slot);
}

std::uint64_t size_in(const row_set& rows, std::size_t column, std::size_t row) {
    const auto text = rows.text(row, column);
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value < 0 ? 0 : static_cast<std::uint64_t>(value);
}

std::optional<slot_usage> slot_usage_in(const row_set& rows, std::size_t first) {
    const auto lag = first;
    const auto retained = first + 1;
    const auto safe = first + 2;
    const auto status = first + 3;
    const auto xmin_age = first + 4;
    const auto clock = first + 5;
    if (rows.empty() || !rows.at(0, clock)) {
        return std::nullopt;
    }
    slot_usage usage;
    usage.lag_bytes = size_in(rows, lag);
    usage.retained_bytes = size_in(rows, retained);
    if (rows.at(0, safe)) {
        usage.safe_wal_bytes = static_cast<std::int64_t>(size_in(rows, safe));
    }
    usage.wal_status = rows.text(0, status);
    usage.catalog_xmin_age = size_in(rows, xmin_age);
    usage.server_time += std::chrono::microseconds(size_in(rows, clock));
    return usage;
}

}  // namespace walrelay::postgres
