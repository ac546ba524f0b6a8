#include "postgres/tables/time_text.hpp"

#include "core/one_line.hpp"
#include "postgres/session/fact_reader.hpp"

#include <chrono>
#include <utility>

namespace walrelay::postgres {
namespace {

using boost::asio::awaitable;

constexpr const char* read_time_sql = R"sql(
SELECT (extract(epoch FROM CASE WHEN $1 LIKE '%ago' THEN now() + $1::interval
                                ELSE $1::timestamp AT TIME ZONE 'UTC' END) * 1000000)::bigint
)sql";
constexpr const char* read_zoned_time_sql =
    "SELECT (extract(epoch FROM $1::timestamptz) * 1000000)::bigint";

}  // namespace

awaitable<result<wall_time>> read_time(connection& sql, std::string text) {
    // A zone is a letter or an offset after the time of day.
    const auto clock = text.find(':');
    const bool has_zone =
        clock != std::string::npos &&
        text.find_first_of("+-ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", clock) !=
            std::string::npos;
    const bool is_relative = text.ends_with("ago");
    std::vector<std::string> which{text};
    const auto rows = co_await sql.ask(
        has_zone && !is_relative ? read_zoned_time_sql : read_time_sql, std::move(which));
    if (rows.has_error()) {
        co_return error{errc::configuration_invalid,
                        "\"" + one_line(text) + "\" is no bookmark, LSN, position or time",
                        "write bookmark:NAME, 16/B374D848, a Walrelay-Position, "
                        "2026-11-21T10:00Z or \"10 minutes ago\"",
                        words_of(rows.error())};
    }
    fact_reader facts(*rows);
    const auto micros = facts.number<std::int64_t>(0, 0);
    co_return facts.failure() ? result<wall_time>(*facts.failure())
                              : wall_time(std::chrono::microseconds(micros));
}

}  // namespace walrelay::postgres
