#include "postgres/tables/event_letters.hpp"

#include "postgres/catalog/own_tables.hpp"
#include "postgres/tables/letter_owner.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace walrelay::postgres {
namespace {

constexpr const char* letters_of_event_format = R"sql(
SELECT letter.id,
       CASE WHEN letter.retries = -1 AND letter.position LIKE 'left out of %' THEN 'given up'
            WHEN letter.retries = -1 THEN 'dropped'
            ELSE {0} END,
       pg_catalog.date_trunc('second', letter.dead_at),
       letter.source_schema || '.' || letter.source_table, letter.reason, letter.message_id = $3,
       letter.subject, letter.committed_at
  FROM {1}
 WHERE {2} AND (letter.message_id = $3
               OR (pg_catalog.starts_with(letter.message_id, $3 || ';')
                   AND pg_catalog.substr(letter.message_id, pg_catalog.length($3) + 2)
                       ~ '^(retry|republish|replay)-'))
   AND NOT (letter.retries = -1 AND letter.reason LIKE 'retry % of dead letter % failed')
 ORDER BY letter.id
)sql";

constexpr const char* subjects_sql =
    "SELECT DISTINCT to_subject FROM walrelay.replay WHERE slot = $1 AND to_subject IS NOT NULL";

}  // namespace

boost::asio::awaitable<std::vector<std::string>> subjects_of_replays(connection& sql,
                                                                     std::string slot) {
    std::vector<std::string> which{std::move(slot)};
    const auto rows = co_await sql.ask(subjects_sql, std::move(which));
    std::vector<std::string> subjects;
    for (std::size_t row = 0; rows.has_value() && row < rows->size(); ++row) {
        subjects.push_back(rows->text(row, 0));
    }
    co_return subjects;
}

boost::asio::awaitable<result<row_set>> letters_of_event(connection& sql, std::string slot,
                                                         std::string message_id) {
    const auto owner = co_await find_letter_owner(sql, std::move(slot));
    if (!owner) {
        co_return owner.error();
    }
    std::vector<std::string> which{owner->slot, owner->unnamed(), std::move(message_id)};
    auto statement =
        fmt::format(letters_of_event_format, letter_state_sql, letters_sql, may_be_own_letter_sql);
    auto rows = co_await sql.ask(std::move(statement), std::move(which));
    if (rows.has_error() && is_missing(rows.error())) {
        co_return row_set{};
    }
    if (rows.has_error()) {
        co_return explain_use(rows.error(), sql, own_table::dead_letter);
    }
    co_return std::move(*rows);
}

}  // namespace walrelay::postgres
