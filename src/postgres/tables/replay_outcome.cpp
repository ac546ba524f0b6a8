#include "postgres/tables/replay_outcome.hpp"

#include "postgres/catalog/own_tables.hpp"
#include "postgres/session/fact_reader.hpp"
#include "postgres/tables/letter_owner.hpp"

#include <fmt/format.h>

#include <utility>

namespace walrelay::postgres {
namespace {

using boost::asio::awaitable;

/// One with an id names its replay; of the others only the time says that they can be of it.
constexpr const char* letters_format = R"sql(
SELECT coalesce(letter.message_id, ''), CASE WHEN letter.message_id IS NULL
                                             THEN letter.event::text END
  FROM {} WHERE {}
   AND CASE WHEN letter.message_id IS NULL
            THEN letter.dead_at >= (SELECT started_at FROM walrelay.replay WHERE id = $3::bigint)
            ELSE strpos(letter.message_id, ';replay-' || $3) > 0 END
)sql";

constexpr const char* restart_sql = R"sql(
UPDATE walrelay.replay
   SET position = NULL, at_lsn = NULL, taken = 0, rows_written = $2::bigint, changed_at = now()
 WHERE id = $1::bigint AND state = 'running' RETURNING id
)sql";

constexpr const char* finish_sql = R"sql(
UPDATE walrelay.replay
   SET state = 'done', rows_stored = $2::bigint, changed_at = now(),
       rows_written = greatest(rows_written, $2::bigint)
 WHERE id = $1::bigint AND state = 'running' RETURNING id
)sql";

constexpr const char* pace_sql = R"sql(
SELECT pg_current_wal_insert_lsn(), s.confirmed_flush_lsn, s.active
  FROM (SELECT) AS one LEFT JOIN pg_replication_slots AS s ON s.slot_name::text = $1
)sql";

awaitable<result<bool>> change(connection& sql, const char* statement, std::int64_t number,
                               std::uint64_t stored) {
    std::vector<std::string> values{std::to_string(number), std::to_string(stored)};
    const auto changed = co_await sql.ask(statement, std::move(values));
    if (changed.has_error()) {
        co_return explain_use(changed.error(), sql, own_table::replay);
    }
    co_return !changed->empty();
}

}  // namespace

awaitable<result<replay_pace>> read_replay_pace(connection& sql, std::string slot) {
    std::vector<std::string> which{std::move(slot)};
    const auto rows = co_await sql.query(pace_sql, std::move(which));
    if (!rows) {
        co_return rows.error();
    }
    fact_reader facts(*rows);
    const replay_pace pace{facts.maybe_lsn(0, 0).value_or(lsn{}), facts.maybe_lsn(0, 1),
                           rows->flag(0, 2)};
    co_return facts.failure() ? result<replay_pace>(*facts.failure()) : pace;
}

awaitable<result<std::vector<replayed_letter>>> letters_of_replay(connection& sql, std::string slot,
                                                                  std::int64_t number) {
    std::vector<replayed_letter> letters;
    const auto there = co_await has_table(sql, own_table::dead_letter);
    if (!there) {
        co_return there.error();
    }
    if (!*there) {
        co_return letters;
    }
    const auto owner = co_await find_letter_owner(sql, std::move(slot));
    if (!owner) {
        co_return owner.error();
    }
    auto statement = fmt::format(letters_format, letters_sql, is_own_letter_sql);
    std::vector<std::string> which{owner->slot, owner->unnamed(), std::to_string(number)};
    const auto rows = co_await sql.ask(std::move(statement), std::move(which));
    if (rows.has_error()) {
        co_return explain_use(rows.error(), sql, own_table::dead_letter);
    }
    for (std::size_t row = 0; row < rows->size(); ++row) {
        letters.push_back({rows->text(row, 0), rows->text(row, 1)});
    }
    co_return letters;
}

awaitable<result<bool>> restart_replay(connection& sql, std::int64_t number, std::uint64_t stored) {
    return change(sql, restart_sql, number, stored);
}

awaitable<result<bool>> finish_replay(connection& sql, std::int64_t number, std::uint64_t stored) {
    return change(sql, finish_sql, number, stored);
}

}  // namespace walrelay::postgres
