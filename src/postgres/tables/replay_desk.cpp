#include "postgres/tables/replay_desk.hpp"

#include "postgres/catalog/own_tables.hpp"
#include "postgres/session/array_literal.hpp"
#include "postgres/session/fact_reader.hpp"
#include "postgres/tables/dead_letter_desk.hpp"

#include <fmt/format.h>

#include <chrono>
#include <string_view>
#include <utility>

namespace walrelay::postgres {
namespace {

using boost::asio::awaitable;

constexpr const char* has_counts_sql =
    "SELECT FROM pg_attribute WHERE attrelid = to_regclass('walrelay.replay') "
    "AND attname = 'rows_stored' AND NOT attisdropped";

constexpr const char* begin_sql = R"sql(
INSERT INTO walrelay.replay (slot, kept_slot, range_from, range_until, range_last, since, before,
                             tables, subject, aggregates, to_subject, rows_planned, ids,
                             stream_sequence)
VALUES ($1, $2, $3, $4::pg_lsn, $5, $6::bigint, $7::bigint, $8::text[], $9, $10::text[], $11,
        $12::bigint, $13::text[], $14::bigint)
RETURNING id
)sql";

/// Lists with a unit separator between their elements, which is in none of them. A name that the
/// table does not have, as one of an earlier version, is that of the outer item.
constexpr const char* read_replay_sql = R"sql(
SELECT id, slot, state, kept_slot, range_from, range_until, range_last, since, before,
       array_to_string(tables, chr(31)), subject, array_to_string(aggregates, chr(31)),
       to_subject, position,
       rows_planned, rows_written, taken, date_trunc('second', started_at AT TIME ZONE 'UTC'),
       date_trunc('second', changed_at AT TIME ZONE 'UTC'), known_sequence, known_stored
  FROM (SELECT NULL::bigint AS stream_sequence, NULL::bigint AS rows_stored) AS lacking,
       LATERAL (SELECT r.*, stream_sequence AS known_sequence, rows_stored AS known_stored
                  FROM walrelay.replay AS r
                 WHERE slot = $1 AND ($2 = '' OR id = nullif($2, '')::bigint)
                 ORDER BY state = 'running' DESC, id DESC LIMIT 100) AS newest
 ORDER BY id
)sql";

constexpr const char* end_replay_sql =
    "UPDATE walrelay.replay SET state = $2, changed_at = now() WHERE id = $1::bigint AND state = "
    "'running' RETURNING id";

/// Nothing is written where the replay does not run any more.
constexpr const char* write_sql = R"sql(
WITH moved AS (
    UPDATE walrelay.replay
       SET position = coalesce($2, position), at_lsn = coalesce($3::pg_lsn, at_lsn),
           rows_written = rows_written + $4::bigint, taken = $10::bigint, changed_at = now()
     WHERE id = $1::bigint AND state = 'running'
    RETURNING id, slot, to_subject)
INSERT INTO walrelay.control (place, kind, slot, replay, subject, position, committed_at,
                              source_schema, source_table, event)
SELECT r.place, 'replay', moved.slot, moved.id, moved.to_subject, nullif(r.position, ''),
       nullif(r.committed_at, '')::bigint, r.source_schema, r.source_table, r.event::json
  FROM moved,
       unnest($5::text[], $6::text[], $7::text[], $8::text[], $9::text[]) WITH ORDINALITY
           AS r (position, committed_at, source_schema, source_table, event, place)
 ORDER BY r.place
)sql";

/// In the same transaction: what was written there is in the WAL.
constexpr const char* written_sql =
    "DELETE FROM walrelay.control WHERE transaction = pg_current_xact_id()::text::bigint";
constexpr const char* still_runs_sql =
    "SELECT FROM walrelay.replay WHERE id = $1::bigint AND state = 'running'";

constexpr const char* ids_sql =
    "SELECT unnest(ids[$2::bigint + 1 : $2::bigint + $3::bigint]) FROM walrelay.replay WHERE id = "
    "$1::bigint";

std::string micros_of(wall_time time) {
    return std::to_string(time.time_since_epoch().count());
}

std::optional<std::string> maybe_micros(const std::optional<wall_time>& time) {
    return time ? std::optional(micros_of(*time)) : std::nullopt;
}

std::optional<std::string> unless_empty(std::string text) {
    return text.empty() ? std::nullopt : std::optional(std::move(text));
}

/// Without the history, which the slot knows.
std::string text_of(const commit_position& where) {
    return to_string(position{{}, where});
}

constexpr char unit_separator = '\x1f';

std::vector<std::string> split_list(std::string_view text) {
    std::vector<std::string> parts;
    while (!text.empty()) {
        const auto end = text.find(unit_separator);
        parts.emplace_back(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return parts;
}

/// Schema and name of each table in turn.
std::vector<std::string> names_of(const std::vector<table_name>& tables) {
    std::vector<std::string> names;
    names.reserve(2 * tables.size());
    for (const auto& each : tables) {
        names.push_back(each.schema);
        names.push_back(each.name);
    }
    return names;
}

std::vector<table_name> tables_of(const std::vector<std::string>& names) {
    std::vector<table_name> tables;
    for (std::size_t index = 0; index + 1 < names.size(); index += 2) {
        tables.push_back({names[index], names[index + 1]});
    }
    return tables;
}

/// Reads one row of read_replay_sql.
class replay_fields {
public:
    replay_fields(const row_set& rows, std::size_t row) : rows_(rows), row_(row), facts_(rows) {}

    result<kept_replay> read();

private:
    /// As read_sql has them.
    enum place : std::size_t {
        id,
        slot,
        state,
        kept_slot,
        from,
        until,
        last,
        since,
        before,
        tables,
        subject,
        aggregates,
        to_subject,
        at,
        planned,
        written,
        taken,
        started,
        changed,
        sequence,
        stored
    };
    /// What was asked for; false where its beginning cannot be read.
    [[nodiscard]] bool read_request(kept_replay& into);
    void read_progress(kept_replay& into);
    std::string text(std::size_t column) const { return rows_.text(row_, column); }
    std::optional<wall_time> time(std::size_t column) {
        if (!rows_.at(row_, column)) {
            return std::nullopt;
        }
        return wall_time(std::chrono::microseconds(facts_.number<std::int64_t>(row_, column)));
    }

    const row_set& rows_;
    std::size_t row_;
    fact_reader facts_;
};

bool replay_fields::read_request(kept_replay& into) {
    into.slot = text(slot);
    into.kept_slot = text(kept_slot);
    into.until = facts_.maybe_lsn(row_, until).value_or(lsn{});
    if (const auto end = parse_position(text(last))) {
        into.last = end->at;
    }
    into.since = time(since);
    into.before = time(before);
    into.tables = tables_of(split_list(text(tables)));
    into.subject = text(subject);
    into.aggregates = split_list(text(aggregates));
    into.to_subject = text(to_subject);
    const auto first = parse_position(text(from));
    into.from = first ? first->at : commit_position{};
    return first.has_value();
}

void replay_fields::read_progress(kept_replay& into) {
    for (const auto each : {replay_state::running, replay_state::done, replay_state::cancelled}) {
        if (text(state) == to_string(each)) {
            into.state = each;
        }
    }
    into.at = parse_position(text(at));
    into.rows_planned = facts_.number<std::uint64_t>(row_, planned);
    into.rows_written = facts_.number<std::uint64_t>(row_, written);
    into.taken = facts_.number<std::uint64_t>(row_, taken);
    if (rows_.at(row_, sequence)) {
        into.stream_sequence = facts_.number<std::uint64_t>(row_, sequence);
    }
    if (rows_.at(row_, stored)) {
        into.rows_stored = facts_.number<std::uint64_t>(row_, stored);
    }
    into.started_at = text(started);
    into.changed_at = text(changed);
}

result<kept_replay> replay_fields::read() {
    kept_replay read;
    read.number = facts_.number<std::int64_t>(row_, id);
    read_progress(read);
    if (!read_request(read) || facts_.failure()) {
        return error{errc::postgres_unsuitable,
                     fmt::format("replay {} in walrelay.replay cannot be read", read.number),
                     "let nobody but walrelay write there: \\dp walrelay.replay in psql"};
    }
    return read;
}

error explain_replay(const server_report& report, const connection& sql) {
    return explain_use(
        report, sql, is_about(report, own_table::control) ? own_table::control : own_table::replay);
}

}  // namespace

awaitable<result<void>> prepare_replays(connection& sql, std::string slot, std::string publication,
                                        std::vector<table_name> outboxes) {
    const auto made = co_await create_table(sql, own_table::replay, outboxes);
    if (!made) {
        co_return made.error();
    }
    const auto heard = co_await check_slot_for_retries(sql, slot, std::move(publication));
    if (!heard) {
        co_return heard.error();
    }
    const auto columns = co_await sql.query(has_counts_sql);
    if (!columns) {
        co_return columns.error();
    }
    if (columns->empty()) {
        co_return error{errc::postgres_unsuitable,
                        "the table walrelay.replay is one of an earlier version, which does not "
                        "count what is stored; nothing was changed",
                        "walrelay init (or sql/replay.sql in psql) as its owner"};
    }
    co_return result<void>{};
}

awaitable<result<std::int64_t>> begin_replay(connection& sql, kept_replay wanted) {
    std::vector<std::optional<std::string>> values{
        wanted.slot,
        unless_empty(wanted.kept_slot),
        text_of(wanted.from),
        to_string(wanted.until),
        wanted.last ? std::optional(text_of(*wanted.last)) : std::nullopt,
        maybe_micros(wanted.since),
        maybe_micros(wanted.before),
        array_literal(names_of(wanted.tables)),
        unless_empty(wanted.subject),
        array_literal(wanted.aggregates),
        unless_empty(wanted.to_subject),
        std::to_string(wanted.rows_planned),
        wanted.reads_table() ? std::optional(array_literal(wanted.ids)) : std::nullopt,
        wanted.stream_sequence ? std::optional(std::to_string(*wanted.stream_sequence))
                               : std::nullopt};
    std::vector<statement> all{{begin_sql, std::move(values)}};
    const auto begun = co_await sql.ask_together(std::move(all));
    if (begun.has_error()) {
        co_return explain_replay(begun.error(), sql);
    }
    fact_reader facts(*begun);
    const auto number = facts.number<std::int64_t>(0, 0);
    co_return facts.failure() ? result<std::int64_t>(*facts.failure()) : number;
}

awaitable<result<std::vector<kept_replay>>> list_replays(connection& sql, std::string slot) {
    const auto there = co_await has_table(sql, own_table::replay);
    if (!there) {
        co_return there.error();
    }
    std::vector<kept_replay> all;
    if (!*there) {
        co_return all;
    }
    std::vector<std::string> which{std::move(slot), ""};
    const auto rows = co_await sql.ask(read_replay_sql, std::move(which));
    if (rows.has_error()) {
        co_return explain_replay(rows.error(), sql);
    }
    for (std::size_t row = 0; row < rows->size(); ++row) {
        auto read = replay_fields(*rows, row).read();
        if (!read) {
            co_return read.error();
        }
        all.push_back(std::move(*read));
    }
    co_return all;
}

awaitable<result<std::optional<kept_replay>>> find_replay(connection& sql, std::string slot,
                                                          std::int64_t number) {
    const auto there = co_await has_table(sql, own_table::replay);
    if (!there) {
        co_return there.error();
    }
    if (!*there) {
        co_return std::nullopt;
    }
    std::vector<std::string> which{std::move(slot), std::to_string(number)};
    const auto rows = co_await sql.ask(read_replay_sql, std::move(which));
    if (rows.has_error()) {
        co_return explain_replay(rows.error(), sql);
    }
    if (rows->empty()) {
        co_return std::nullopt;
    }
    auto read = replay_fields(*rows, 0).read();
    if (!read) {
        co_return read.error();
    }
    co_return std::optional(std::move(*read));
}

awaitable<result<bool>> end_replay(connection& sql, std::int64_t number, replay_state how) {
    std::vector<std::string> values{std::to_string(number), to_string(how)};
    const auto ended = co_await sql.ask(end_replay_sql, std::move(values));
    if (ended.has_error()) {
        co_return explain_replay(ended.error(), sql);
    }
    co_return !ended->empty();
}

awaitable<result<bool>> write_replay_batch(connection& sql, kept_replay of,
                                           std::vector<replay_row> rows) {
    std::vector<std::vector<std::string>> columns(5);
    std::optional<position> last;
    for (auto& row : rows) {
        last = row.where ? row.where : last;
        columns[0].push_back(row.where ? to_string(*row.where) : "");
        columns[1].push_back(row.committed_at ? micros_of(*row.committed_at) : "");
        columns[2].push_back(std::move(row.source.schema));
        columns[3].push_back(std::move(row.source.name));
        columns[4].push_back(std::move(row.event));
    }
    const auto number = std::to_string(of.number);
    statement write{write_sql,
                    {number, last ? std::optional(to_string(*last)) : std::nullopt,
                     last ? std::optional(to_string(last->at.commit)) : std::nullopt,
                     std::to_string(rows.size())}};
    for (const auto& column : columns) {
        write.parameters.emplace_back(array_literal(column));
    }
    write.parameters.emplace_back(std::to_string(of.taken));
    std::vector<statement> all{std::move(write), {written_sql}, {still_runs_sql, {number}}};
    const auto written = co_await sql.ask_together(std::move(all));
    if (written.has_error()) {
        co_return explain_replay(written.error(), sql);
    }
    co_return !written->empty();
}

awaitable<result<std::vector<std::string>>> read_replay_ids(connection& sql, std::int64_t number,
                                                            std::uint64_t taken,
                                                            std::uint64_t count) {
    std::vector<std::string> which{std::to_string(number), std::to_string(taken),
                                   std::to_string(count)};
    const auto rows = co_await sql.ask(ids_sql, std::move(which));
    if (rows.has_error()) {
        co_return explain_replay(rows.error(), sql);
    }
    std::vector<std::string> ids;
    ids.reserve(rows->size());
    for (std::size_t row = 0; row < rows->size(); ++row) {
        ids.push_back(rows->text(row, 0));
    }
    co_return ids;
}

}  // namespace walrelay::postgres
