#include "postgres/tables/dead_letter_desk.hpp"

#include "core/assert.hpp"
#include "core/control.hpp"
#include "core/sql_text.hpp"
#include "postgres/catalog/own_tables.hpp"
#include "postgres/session/fact_reader.hpp"
#include "postgres/tables/letter_owner.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <string_view>
#include <utility>

namespace walrelay::postgres {
namespace {

using boost::asio::awaitable;

/// The newest $3, of the table $4.$5 or, where $4 is empty, of any. {0}: columns.
constexpr const char* list_format = R"sql(
SELECT {0}
  FROM (SELECT letter.*, {1} AS state FROM {2} WHERE {3} AND {4}
           AND ($4 = '' OR (letter.source_schema = $4 AND letter.source_table = $5))
         ORDER BY letter.id DESC LIMIT $3::bigint) AS newest
 ORDER BY id
)sql";

constexpr std::string_view list_columns =
    "id, date_trunc('second', dead_at) AS dead_at, source_schema || '.' || source_table AS "
    "\"table\", message_id, reason, attempts, retries, state";
constexpr std::string_view list_json =
    "(SELECT row_to_json(each) FROM (SELECT newest.id, newest.dead_at, newest.source_schema, "
    "newest.source_table, newest.message_id, newest.reason, newest.error_code, newest.attempts, "
    "newest.retries, newest.retried_at, newest.state, newest.slot) AS each)";

std::string list_sql(dead_letter_form form, listed_letters which) {
    return fmt::format(list_format, form == dead_letter_form::json ? list_json : list_columns,
                       letter_state_sql, letters_sql, may_be_own_letter_sql,
                       which == listed_letters::open ? is_open_letter_sql : "letter.retries >= 0");
}

/// As leave_out writes them for the slot $4; a letter that was dropped keeps its position.
constexpr const char* given_up_sql = R"sql(
SELECT id, date_trunc('second', dead_at) AS given_up_at,
       source_schema || '.' || source_table AS "table", message_id, reason
  FROM (SELECT * FROM walrelay.dead_letter
         WHERE retries = -1 AND pg_catalog.starts_with(position, 'left out of ' || $4 || ': ')
           AND ($2 = '' OR (source_schema = $2 AND source_table = $3))
         ORDER BY id DESC LIMIT $1::bigint) AS newest
 ORDER BY id
)sql";

constexpr const char* given_up_json_sql = R"sql(
SELECT row_to_json(each)
  FROM (SELECT id, dead_at AS given_up_at, source_schema, source_table, message_id, reason
          FROM (SELECT * FROM walrelay.dead_letter
                 WHERE retries = -1
                   AND pg_catalog.starts_with(position, 'left out of ' || $4 || ': ')
                   AND ($2 = '' OR (source_schema = $2 AND source_table = $3))
                 ORDER BY id DESC LIMIT $1::bigint) AS newest
         ORDER BY id) AS each
)sql";

constexpr const char* knows_table_sql = R"sql(
SELECT FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
 WHERE n.nspname = $1 AND c.relname = $2
UNION ALL
SELECT FROM walrelay.dead_letter WHERE source_schema = $1 AND source_table = $2
 LIMIT 1
)sql";

constexpr std::string_view shown_columns =
    "id, split_part(position, '@', 1) AS position, source_schema AS schema, source_table AS "
    "\"table\", message_id, subject, reason, error_code, attempts, committed_at, dead_at, retries, "
    "retried_at, state, slot";
constexpr std::string_view shown_json =
    "(SELECT row_to_json(each) FROM (SELECT one.id, split_part(one.position, '@', 1) AS position, "
    "one.source_schema, one.source_table, one.message_id, one.subject, one.headers, one.event, "
    "one.reason, one.error_code, one.attempts, one.committed_at, one.dead_at, one.retries, "
    "one.retried_at, one.state, one.slot) AS each)";

std::string find_sql(dead_letter_form form) {
    return fmt::format(
        "SELECT {} FROM (SELECT letter.*, {} AS state FROM {} WHERE {} AND letter.id = $3::bigint "
        "AND letter.retries >= 0) AS one",
        form == dead_letter_form::json ? shown_json : shown_columns, letter_state_sql, letters_sql,
        may_be_own_letter_sql);
}

constexpr const char* headers_sql =
    "SELECT h.key, h.value FROM walrelay.dead_letter, json_each_text(headers) AS h "
    "WHERE id = $1::bigint";

constexpr const char* columns_sql = R"sql(
SELECT c.value ->> 'name', format_type((c.value ->> 'type')::oid, NULL), c.value ->> 'value'
  FROM walrelay.dead_letter, json_array_elements(event) WITH ORDINALITY AS c (value, place)
 WHERE id = $1::bigint ORDER BY c.place
)sql";

/// The ids of those that are asked for: the ids $3, or all where $6 is set; of the table $4.$5.
constexpr const char* chosen_format = R"sql(
(SELECT letter.id FROM {0}
  WHERE ((letter.id = ANY ($3::bigint[]) AND {1}) OR ($6::bool AND {3} AND {2}))
    AND ($4 = '' OR (letter.source_schema = $4 AND letter.source_table = $5)))
)sql";

std::string chosen_sql(std::string_view of_all) {
    return fmt::format(chosen_format, letters_sql, may_be_own_letter_sql, is_own_letter_sql,
                       of_all);
}

/// A condition on `letter`: no retry of it is to be read by the relay. {0} and {1}: the parameters
/// with ids and counts of those that it has read.
constexpr const char* not_queued_format = R"sql(
(letter.retries = 0 OR letter.retry_fate IS NOT NULL
 OR (letter.id, letter.retries) IN (SELECT * FROM unnest({0}::bigint[], {1}::int[])))
)sql";

std::string not_queued_sql(std::string_view ids, std::string_view counts) {
    return fmt::format(not_queued_format, ids, counts);
}

/// One that was dropped has no event any more. The letter is the slot's from here on. {1}: of all
/// that are asked for at once, only those; said of the row itself, since what another command
/// changes while this one waits for it is seen there alone.
constexpr const char* retry_format = R"sql(
WITH chosen AS (
    UPDATE walrelay.dead_letter AS letter
       SET retries = letter.retries + 1, retried_at = now(), slot = $1, retry_fate = NULL,
           retry_sequence = nullif($9, '')::bigint
     WHERE id IN {0} AND event IS NOT NULL AND (NOT $6::bool OR {1}) AND {2}
    RETURNING id, retries, source_schema, source_table, event)
INSERT INTO walrelay.control (place, kind, slot, dead_letter, retry, source_schema, source_table,
                              event)
SELECT row_number() OVER (ORDER BY id), 'retry', $1, id, retries, source_schema, source_table, event
  FROM chosen ORDER BY id
)sql";

/// {0}: of all that are asked for at once, only those.
constexpr const char* contentless_format = R"sql(
SELECT letter.id, letter.source_schema, letter.source_table, coalesce(letter.message_id, ''),
       letter.reason
  FROM {1}
 WHERE letter.id IN {2} AND letter.event IS NULL AND letter.retries >= 0
   AND (NOT $6::bool OR {0})
 ORDER BY letter.id
)sql";

constexpr const char* fill_sql =
    "UPDATE walrelay.dead_letter SET event = $2::json "
    "WHERE id = $1::bigint AND event IS NULL AND retries >= 0";

/// In the same transaction: what was written there is in the WAL. Gives id and occasion of each.
constexpr const char* retried_sql = R"sql(
WITH gone AS (
    DELETE FROM walrelay.control WHERE transaction = pg_current_xact_id()::text::bigint
    RETURNING place, dead_letter, format('retry-%s-%s', dead_letter, retry) AS occasion)
SELECT dead_letter, occasion FROM gone ORDER BY place
)sql";

/// A relay of 0.2.0 makes another letter of a retry that fails: it has its occasion, or, where it
/// has no id, the same row; only there the time tells it from that of an earlier retry. $3: none
/// that were asked for longer ago, in seconds; of those that are called lost none of before
/// yesterday, as the stream is read from the oldest one on.
constexpr const char* queued_format = R"sql(
SELECT letter.id, letter.retries, coalesce(letter.retry_sequence, 0),
       EXISTS (SELECT FROM walrelay.dead_letter AS again
                WHERE again.id > letter.id
                  AND (again.message_id LIKE format('%%;retry-%s-%s', letter.id, letter.retries)
                       OR (again.message_id IS NULL AND again.dead_at >= letter.retried_at
                           AND again.event::text = letter.event::text))),
       (extract(epoch FROM letter.retried_at) * 1000000)::bigint,
       letter.retry_fate IS NOT NULL
  FROM {} WHERE {} AND letter.retries > 0 AND coalesce(letter.retry_fate, 'lost') = 'lost'
   AND letter.retried_at > now() - $3::bigint * interval '1 second'
   AND (letter.retry_fate IS NULL OR letter.retried_at > now() - interval '1 day')
 ORDER BY letter.retry_fate IS NOT NULL, letter.id LIMIT 10000
)sql";

constexpr const char* settle_sql = R"sql(
UPDATE walrelay.dead_letter AS d SET retry_fate = $3
  FROM unnest($1::bigint[], $2::int[]) AS seen (id, retries)
 WHERE d.id = seen.id AND d.retries = seen.retries
   AND coalesce(d.retry_fate, 'lost') = 'lost'
)sql";

std::string lost_sql() {
    return fmt::format(
        "SELECT letter.id FROM {} WHERE {} AND letter.retries > 0 AND letter.retry_fate = 'lost' "
        "ORDER BY letter.id",
        letters_sql, is_own_letter_sql);
}

constexpr const char* queued_letters_format = R"sql(
SELECT letter.id FROM {} WHERE letter.id IN {} AND letter.retries > 0 AND NOT {} ORDER BY letter.id
)sql";

/// What is left says of the row that nobody is to miss it. One that is retried while this waits for
/// it has another count then.
constexpr const char* drop_format = R"sql(
WITH gone AS (
    UPDATE walrelay.dead_letter
       SET retries = -1, event = NULL, headers = '{{}}', subject = NULL,
           reason = format('dropped at %s', date_trunc('second', now()))
     WHERE retries >= 0
       AND (id, retries) IN (SELECT letter.id, letter.retries
                               FROM {} WHERE letter.id IN {} AND {})
    RETURNING id)
SELECT id FROM gone ORDER BY id
)sql";

constexpr const char* knows_slots_sql =
    "SELECT FROM pg_attribute WHERE attrelid = to_regclass('walrelay.dead_letter') "
    "AND attname = 'retry_fate' AND NOT attisdropped";

/// The plugin of the slot $1; of the publication $2, whether it has walrelay.control; and whether
/// that writes the proof by which a relay obeys.
constexpr const char* slot_sql = R"sql(
SELECT plugin,
       EXISTS (SELECT FROM pg_publication_tables
                WHERE pubname = $2 AND schemaname = 'walrelay' AND tablename = 'control'),
       EXISTS (SELECT FROM pg_attribute WHERE attrelid = to_regclass('walrelay.control')
                AND attname = 'proof' AND atthasdef AND NOT attisdropped)
  FROM pg_replication_slots WHERE slot_name = $1 AND database = current_database()
)sql";

/// An empty schema stands for any table: no schema has an empty name.
std::vector<std::string> with_table(std::vector<std::string> parameters,
                                    const std::optional<table_name>& table) {
    parameters.push_back(table ? table->schema : "");
    parameters.push_back(table ? table->name : "");
    return parameters;
}

std::string list_of(const std::vector<std::int64_t>& ids) {
    return fmt::format("{{{}}}", fmt::join(ids, ","));
}

std::vector<std::string> parameters_of(const letter_owner& owner,
                                       const dead_letter_selection& which) {
    WALRELAY_ASSERT(which.all == which.ids.empty());
    auto parameters = with_table({owner.slot, owner.unnamed(), list_of(which.ids)}, which.table);
    parameters.emplace_back(which.all ? "true" : "false");
    return parameters;
}

/// Ids and counts.
std::array<std::string, 2> lists_of(const std::vector<queued_retry>& retries) {
    std::vector<std::int64_t> ids;
    std::vector<std::int64_t> counts;
    for (const auto& each : retries) {
        ids.push_back(each.letter);
        counts.push_back(each.count);
    }
    return {list_of(ids), list_of(counts)};
}

/// $7 and $8 are the lists of what was read.
std::vector<std::string> parameters_with_read(const letter_owner& owner,
                                              const dead_letter_selection& which) {
    auto parameters = parameters_of(owner, which);
    for (auto& each : lists_of(which.read)) {
        parameters.push_back(std::move(each));
    }
    return parameters;
}

awaitable<result<row_set>> run(connection& sql, std::string statement,
                               std::vector<std::string> parameters) {
    auto rows = co_await sql.ask(std::move(statement), std::move(parameters));
    if (rows.has_error()) {
        co_return explain_use(rows.error(), sql, own_table::dead_letter);
    }
    co_return std::move(*rows);
}

result<std::vector<std::int64_t>> ids_in(const row_set& rows) {
    fact_reader facts(rows);
    std::vector<std::int64_t> ids;
    for (std::size_t row = 0; row < rows.size(); ++row) {
        ids.push_back(facts.number<std::int64_t>(row, 0));
    }
    return facts.failure() ? result<std::vector<std::int64_t>>(*facts.failure()) : std::move(ids);
}

}  // namespace

awaitable<result<row_set>> list_dead_letters(connection& sql, std::string slot, std::int64_t limit,
                                             std::optional<table_name> table, dead_letter_form form,
                                             listed_letters which_state) {
    if (which_state == listed_letters::given_up) {
        auto which = with_table({std::to_string(limit)}, table);
        which.push_back(std::move(slot));
        co_return co_await run(sql,
                               form == dead_letter_form::json ? given_up_json_sql : given_up_sql,
                               std::move(which));
    }
    auto parameters = with_table({std::move(slot), "true", std::to_string(limit)}, table);
    auto statement = list_sql(form, which_state);
    co_return co_await run(sql, std::move(statement), std::move(parameters));
}

awaitable<result<row_set>> find_dead_letter(connection& sql, std::string slot, std::int64_t id,
                                            dead_letter_form form) {
    std::vector<std::string> parameters{std::move(slot), "true", std::to_string(id)};
    auto statement = find_sql(form);
    co_return co_await run(sql, std::move(statement), std::move(parameters));
}

awaitable<result<row_set>> headers_of_dead_letter(connection& sql, std::int64_t id) {
    std::vector<std::string> parameters{std::to_string(id)};
    co_return co_await run(sql, headers_sql, std::move(parameters));
}

awaitable<result<row_set>> columns_of_dead_letter(connection& sql, std::int64_t id) {
    std::vector<std::string> parameters{std::to_string(id)};
    co_return co_await run(sql, columns_sql, std::move(parameters));
}

awaitable<result<row_set>> retry_dead_letters(connection& sql, std::string slot,
                                              std::optional<std::uint64_t> sequence,
                                              dead_letter_selection which) {
    const auto owner = co_await find_letter_owner(sql, std::move(slot));
    if (!owner) {
        co_return owner.error();
    }
    statement chosen{fmt::format(retry_format, chosen_sql(awaits_retry_sql), awaits_retry_sql,
                                 not_queued_sql("$7", "$8"))};
    for (auto& each : parameters_with_read(*owner, which)) {
        chosen.parameters.emplace_back(std::move(each));
    }
    chosen.parameters.emplace_back(sequence ? std::to_string(*sequence) : "");
    std::vector<statement> all{std::move(chosen), {retried_sql}};
    auto rows = co_await sql.ask_together(std::move(all));
    if (rows.has_error()) {
        const bool of_control = is_about(rows.error(), own_table::control);
        co_return explain_use(rows.error(), sql,
                              of_control ? own_table::control : own_table::dead_letter);
    }
    co_return std::move(*rows);
}

awaitable<result<std::vector<contentless_letter>>> letters_without_content(
    connection& sql, std::string slot, dead_letter_selection which) {
    const auto owner = co_await find_letter_owner(sql, std::move(slot));
    if (!owner) {
        co_return owner.error();
    }
    auto statement = fmt::format(contentless_format, awaits_retry_sql, letters_sql,
                                 chosen_sql(awaits_retry_sql));
    const auto rows = co_await run(sql, std::move(statement), parameters_of(*owner, which));
    if (!rows) {
        co_return rows.error();
    }
    fact_reader facts(*rows);
    std::vector<contentless_letter> all;
    for (std::size_t row = 0; row < rows->size(); ++row) {
        all.push_back({facts.number<std::int64_t>(row, 0),
                       {rows->text(row, 1), rows->text(row, 2)},
                       rows->text(row, 3),
                       rows->text(row, 4)});
    }
    co_return facts.failure() ? result<std::vector<contentless_letter>>(*facts.failure())
                              : std::move(all);
}

awaitable<result<void>> fill_dead_letter(connection& sql, std::int64_t id, std::string event) {
    std::vector<std::string> parameters{std::to_string(id), std::move(event)};
    const auto done = co_await run(sql, fill_sql, std::move(parameters));
    co_return done ? result<void>{} : done.error();
}

awaitable<result<bool>> knows_table(connection& sql, table_name table) {
    std::vector<std::string> names{table.schema, table.name};
    const auto found = co_await sql.query(knows_table_sql, std::move(names));
    if (!found) {
        co_return found.error();
    }
    co_return !found->empty();
}

awaitable<result<row_set>> drop_dead_letters(connection& sql, std::string slot,
                                             dead_letter_selection which) {
    const auto owner = co_await find_letter_owner(sql, std::move(slot));
    if (!owner) {
        co_return owner.error();
    }
    auto statement =
        fmt::format(drop_format, letters_sql, chosen_sql("true"), not_queued_sql("$7", "$8"));
    co_return co_await run(sql, std::move(statement), parameters_with_read(*owner, which));
}

awaitable<result<std::vector<queued_retry>>> queued_retries(connection& sql, std::string slot,
                                                            std::chrono::seconds not_older) {
    const auto owner = co_await find_letter_owner(sql, std::move(slot));
    if (!owner) {
        co_return owner.error();
    }
    auto statement = fmt::format(queued_format, letters_sql, is_own_letter_sql);
    std::vector<std::string> which{owner->slot, owner->unnamed(),
                                   std::to_string(not_older.count())};
    const auto rows = co_await run(sql, std::move(statement), std::move(which));
    if (!rows) {
        co_return rows.error();
    }
    fact_reader facts(*rows);
    std::vector<queued_retry> all;
    for (std::size_t row = 0; row < rows->size(); ++row) {
        all.push_back({facts.number<std::int64_t>(row, 0), facts.number<std::int64_t>(row, 1),
                       facts.number<std::uint64_t>(row, 2), rows->flag(row, 3), rows->flag(row, 5),
                       wall_time(std::chrono::microseconds(facts.number<std::int64_t>(row, 4)))});
    }
    co_return facts.failure() ? result<std::vector<queued_retry>>(*facts.failure())
                              : std::move(all);
}

std::string occasion_of(const queued_retry& retry) {
    return fmt::format("retry-{}-{}", retry.letter, retry.count);
}

awaitable<result<void>> settle_retries(connection& sql, std::vector<queued_retry> which,
                                       retry_fate fate) {
    auto [ids, counts] = lists_of(which);
    const auto* const name = fate == retry_fate::stored        ? "stored"
                             : fate == retry_fate::dead_letter ? "dead_letter"
                                                               : "lost";
    std::vector<std::string> parameters{std::move(ids), std::move(counts), name};
    const auto done = co_await run(sql, settle_sql, std::move(parameters));
    co_return done ? result<void>{} : done.error();
}

awaitable<result<std::vector<std::int64_t>>> queued_letters(connection& sql, std::string slot,
                                                            dead_letter_selection which) {
    const auto owner = co_await find_letter_owner(sql, std::move(slot));
    if (!owner) {
        co_return owner.error();
    }
    auto statement = fmt::format(queued_letters_format, letters_sql, chosen_sql("true"),
                                 not_queued_sql("$7", "$8"));
    const auto rows = co_await run(sql, std::move(statement), parameters_with_read(*owner, which));
    co_return rows ? ids_in(*rows) : rows.error();
}

awaitable<result<std::vector<std::int64_t>>> lost_retries(connection& sql, std::string slot) {
    const auto owner = co_await find_letter_owner(sql, std::move(slot));
    if (!owner) {
        co_return owner.error();
    }
    std::vector<std::string> parameters{owner->slot, owner->unnamed()};
    auto statement = lost_sql();
    const auto rows = co_await run(sql, std::move(statement), std::move(parameters));
    if (!rows) {
        co_return rows.error();
    }
    co_return ids_in(*rows);
}

awaitable<void> upgrade_dead_letters(connection& sql, std::vector<table_name> outboxes) {
    const auto there = co_await has_table(sql, own_table::dead_letter);
    if (there && *there) {
        (void)co_await complete_dead_letters(sql, std::move(outboxes));
    }
}

awaitable<result<void>> complete_dead_letters(connection& sql, std::vector<table_name> outboxes) {
    auto known = co_await sql.query(knows_slots_sql);
    if (known && known->empty()) {
        const auto made = co_await create_table(sql, own_table::dead_letter, std::move(outboxes));
        if (!made) {
            co_return made.error();
        }
        known = co_await sql.query(knows_slots_sql);
    }
    if (!known) {
        co_return known.error();
    }
    if (!known->empty()) {
        co_return result<void>{};
    }
    co_return error{
        errc::postgres_unsuitable,
        "the table walrelay.dead_letter is one of an earlier version, in which a letter "
        "belongs to no slot; nothing was changed",
        "walrelay init (or sql/dead_letter.sql in psql) as its owner"};
}

awaitable<result<void>> check_slot_for_retries(connection& sql, std::string slot,
                                               std::string publication) {
    std::vector<std::string> parameters{slot, publication};
    const auto rows = co_await sql.query(slot_sql, std::move(parameters));
    if (rows.has_error()) {
        co_return rows.error();
    }
    if (rows->empty()) {
        co_return error{errc::postgres_unsuitable,
                        fmt::format("the slot {} does not exist in database {}, so no relay would "
                                    "see a retry; nothing was changed",
                                    slot, sql.database()),
                        "set postgres.slot to the relay's slot, or: walrelay init"};
    }
    const auto there = co_await has_table(sql, own_table::control);
    if (!there) {
        co_return there.error();
    }
    if (!*there) {
        co_return error{errc::postgres_unsuitable,
                        "the table walrelay.control, through which the relay is told of a retry, "
                        "does not exist; nothing was changed",
                        "walrelay init (or sql/control.sql in psql, as who made walrelay's other "
                        "tables)"};
    }
    if (!rows->flag(0, 2)) {
        co_return error{errc::postgres_unsuitable,
                        "the table walrelay.control is one of an earlier version, which proves "
                        "nothing: no relay would obey what is written there; nothing was changed",
                        "walrelay init (or sql/control.sql in psql) as its owner"};
    }
    if (rows->text(0, 0) == "pgoutput" && !rows->flag(0, 1)) {
        co_return error{
            errc::postgres_unsuitable,
            fmt::format("the publication {} does not contain the table walrelay.control, so no "
                        "relay would see a retry; nothing was changed",
                        publication),
            add_to_publication_sql(publication, control_table()) +
                " or walrelay init, as the owner of both"};
    }
    co_return result<void>{};
}

}  // namespace walrelay::postgres
