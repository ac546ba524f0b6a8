#include "postgres/tables/trail_marks.hpp"

#include "postgres/catalog/own_tables.hpp"
#include "postgres/session/fact_reader.hpp"

#include <chrono>
#include <cstdint>

namespace walrelay::postgres {
namespace {

using boost::asio::awaitable;

constexpr const char* forget_strangers_sql =
    "DELETE FROM walrelay.trail WHERE slot = $1 AND system <> $2";

constexpr const char* read_marks_sql =
    "SELECT position, (extract(epoch FROM seen_at) * 1000000)::bigint "
    "FROM walrelay.trail WHERE slot = $1 ORDER BY position";

/// One that is there is older, and says more.
constexpr const char* add_mark_sql = R"sql(
INSERT INTO walrelay.trail AS t (slot, system, position) VALUES ($1, $2, $3::pg_lsn)
    ON CONFLICT (slot, position) DO UPDATE SET seen_at = t.seen_at
 RETURNING (extract(epoch FROM seen_at) * 1000000)::bigint
)sql";

constexpr const char* forget_marks_sql =
    "DELETE FROM walrelay.trail WHERE slot = $1 AND position < $2::pg_lsn";

wall_time time_in(fact_reader& reader, std::size_t row, std::size_t column) {
    return wall_time(std::chrono::microseconds(reader.number<std::int64_t>(row, column)));
}

}  // namespace

awaitable<result<std::vector<placed_time>>> read_trail_marks(connection& sql, trail_owner of) {
    std::vector<std::string> owner{of.slot, of.system};
    const auto cleaned = co_await sql.ask(forget_strangers_sql, std::move(owner));
    if (cleaned.has_error()) {
        co_return explain_use(cleaned.error(), sql, own_table::trail);
    }
    std::vector<std::string> which{of.slot};
    const auto rows = co_await sql.ask(read_marks_sql, std::move(which));
    if (rows.has_error()) {
        co_return explain_use(rows.error(), sql, own_table::trail);
    }
    fact_reader reader{*rows};
    std::vector<placed_time> marks;
    marks.reserve(rows->size());
    for (std::size_t row = 0; row < rows->size(); ++row) {
        marks.emplace_back(reader.maybe_lsn(row, 0).value_or(lsn{}), time_in(reader, row, 1));
    }
    if (reader.failure()) {
        co_return *reader.failure();
    }
    co_return std::move(marks);
}

awaitable<result<wall_time>> add_trail_mark(connection& sql, trail_owner of, lsn at) {
    std::vector<std::string> values{of.slot, of.system, to_string(at)};
    const auto added = co_await sql.ask(add_mark_sql, std::move(values));
    if (added.has_error()) {
        co_return explain_use(added.error(), sql, own_table::trail);
    }
    fact_reader reader{*added};
    const auto time = time_in(reader, 0, 0);
    if (reader.failure()) {
        co_return *reader.failure();
    }
    co_return time;
}

awaitable<result<void>> forget_trail_marks(connection& sql, std::string slot, lsn before) {
    std::vector<std::string> values{std::move(slot), to_string(before)};
    const auto done = co_await sql.ask(forget_marks_sql, std::move(values));
    if (done.has_error()) {
        co_return explain_use(done.error(), sql, own_table::trail);
    }
    co_return result<void>{};
}

}  // namespace walrelay::postgres
