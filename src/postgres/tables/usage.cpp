#include "postgres/tables/usage.hpp"

#include "postgres/catalog/slot_usage.hpp"
#include "postgres/tables/letter_owner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

namespace walrelay::postgres {
namespace {

using boost::asio::awaitable;

constexpr const char* slot_holder_sql = R"sql(
SELECT s.active_pid, coalesce(host(r.client_addr), ''), coalesce(r.application_name, ''),
       (extract(epoch FROM clock_timestamp() - r.backend_start) * 1000000)::bigint,
       (extract(epoch FROM clock_timestamp() - r.reply_time) * 1000000)::bigint
  FROM pg_replication_slots AS s LEFT JOIN pg_stat_replication AS r ON r.pid = s.active_pid
 WHERE s.slot_name = $1 AND s.active_pid IS NOT NULL
)sql";

constexpr const char* letters_readable_sql =
    "SELECT coalesce(has_table_privilege(to_regclass('walrelay.dead_letter')::oid, 'SELECT'),"
    " false)";

std::string letter_totals_sql() {
    return fmt::format(
        "SELECT count(*) FILTER (WHERE letter.error_code = 0 AND letter.attempts = 0),"
        " count(*) FILTER (WHERE letter.error_code <> 0 OR letter.attempts > 0)"
        " FROM {} WHERE {} AND {}",
        letters_sql, may_be_own_letter_sql, is_open_letter_sql);
}

/// As many as a screen shows; texts of any length come from rows.
std::string newest_letters_sql() {
    return fmt::format(
        "SELECT letter.id, (extract(epoch FROM letter.dead_at) * 1000000)::bigint,"
        " left(letter.source_schema || '.' || letter.source_table, 130),"
        " left(letter.message_id, 100), left(letter.reason, 200)"
        " FROM {} WHERE {} AND {} ORDER BY letter.id DESC LIMIT 10",
        letters_sql, may_be_own_letter_sql, is_open_letter_sql);
}

}  // namespace

awaitable<result<std::optional<slot_usage>>> read_slot_usage(connection& sql, std::string slot) {
    std::vector<std::string> parameters{std::move(slot)};
    auto statement = slot_usage_sql("$1");
    const auto rows = co_await sql.query(std::move(statement), std::move(parameters));
    if (!rows) {
        co_return rows.error();
    }
    co_return slot_usage_in(*rows);
}

awaitable<result<std::optional<slot_holder>>> read_slot_holder(connection& sql, std::string slot) {
    using found = std::optional<slot_holder>;
    std::vector<std::string> parameters{std::move(slot)};
    const auto rows = co_await sql.query(slot_holder_sql, std::move(parameters));
    if (!rows) {
        co_return rows.error();
    }
    if (rows->empty()) {
        co_return found{};
    }
    enum column : std::size_t { process, address, application, connected, heard };
    const auto time_in = [&rows](std::size_t which) -> std::optional<std::chrono::microseconds> {
        if (!rows->at(0, which)) {
            return std::nullopt;
        }
        return std::chrono::microseconds(size_in(*rows, which));
    };
    slot_holder holder;
    holder.process = static_cast<int>(size_in(*rows, process));
    holder.address = rows->text(0, address);
    holder.application = rows->text(0, application);
    holder.connected_for = time_in(connected);
    holder.heard_ago = time_in(heard);
    co_return found{std::move(holder)};
}

awaitable<result<std::optional<open_letters>>> read_open_letters(connection& sql,
                                                                 std::string slot) {
    using found = std::optional<open_letters>;
    const auto readable = co_await sql.query(letters_readable_sql);
    if (!readable) {
        co_return readable.error();
    }
    if (!readable->flag(0, 0)) {
        co_return found{};
    }
    std::vector<std::string> which{std::move(slot), "true"};
    auto statement = letter_totals_sql();
    const auto rows = co_await sql.query(std::move(statement), which);
    if (!rows) {
        co_return rows.error();
    }
    open_letters letters;
    letters.counted[static_cast<std::size_t>(letter_reason::row)] = size_in(*rows, 0);
    letters.counted[static_cast<std::size_t>(letter_reason::broker)] = size_in(*rows, 1);
    if (std::ranges::all_of(letters.counted, [](std::uint64_t each) { return each == 0; })) {
        co_return found{std::move(letters)};
    }
    statement = newest_letters_sql();
    const auto newest = co_await sql.query(std::move(statement), std::move(which));
    if (!newest) {
        co_return newest.error();
    }
    enum column : std::size_t { number, dead_at, table, message_id, reason };
    for (std::size_t row = 0; row < newest->size(); ++row) {
        const std::chrono::microseconds since_1970(size_in(*newest, dead_at, row));
        letters.newest.push_back({static_cast<std::int64_t>(size_in(*newest, number, row)),
                                  std::string(newest->text(row, table)),
                                  std::string(newest->text(row, message_id)),
                                  std::string(newest->text(row, reason)), wall_time(since_1970)});
    }
    co_return found{std::move(letters)};
}

}  // namespace walrelay::postgres
