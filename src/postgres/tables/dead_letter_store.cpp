#include "postgres/tables/dead_letter_store.hpp"

#include "core/sql_text.hpp"
#include "core/utf8.hpp"
#include "postgres/catalog/own_tables.hpp"
#include "postgres/catalog/write_back_sql.hpp"
#include "postgres/session/array_literal.hpp"
#include "postgres/session/commit_wait.hpp"
#include "postgres/session/sqlstate.hpp"
#include "postgres/tables/letter_owner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

namespace walrelay::postgres {
namespace {

using boost::asio::awaitable;

/// PostgreSQL ends the connection over a message of 1 GiB and more; this leaves room for the rest.
constexpr std::size_t stored_bytes_limit = 1'000'000'000;

/// {0}: the position, {1} and {2}: the slot's column and value, {3}: a condition.
constexpr const char* insert_format = R"sql(
INSERT INTO walrelay.dead_letter (position, source_schema, source_table, message_id, subject,
                                  headers, event, reason, error_code, attempts, committed_at{1})
SELECT {0}, $2, $3, nullif($4, ''), nullif($5, ''), json_object($6::text[], $7::text[]),
       nullif($8, '')::json, $9, $10::int, least($11::bigint, 2147483647)::int,
       timestamptz 'epoch' + $12::bigint * interval '1 microsecond'{2}
 WHERE {3}
    ON CONFLICT (position) DO NOTHING
)sql";

/// The table's key is the position alone, which relays of 0.2.0 ask for. position_and_slot: where
/// it is that of another slot's letter; after the other one, to see what that has waited for.
/// without_slot: into a table of an earlier version.
enum class letter_key { without_slot, position, position_and_slot };

const std::vector<letter_key> keys_with_slot{letter_key::position, letter_key::position_and_slot};

/// Whether the position $1 is that of a letter of another slot than $2.
constexpr const char* is_of_another_sql =
    "SELECT EXISTS (SELECT FROM walrelay.dead_letter AS other WHERE other.position = $1 AND "
    "other.slot IS DISTINCT FROM $2)";

std::string insert_sql(letter_key key) {
    switch (key) {
        case letter_key::without_slot:
            return fmt::format(insert_format, "$1", "", "", "true");
        case letter_key::position:
            return fmt::format(insert_format, "$1", ", slot", ", nullif($13, '')", "true");
        default:
            return fmt::format(insert_format, "$1 || '@' || $13", ", slot", ", $13",
                               "$13 <> '' AND EXISTS (SELECT FROM walrelay.dead_letter AS other "
                               "WHERE other.position = $1 AND other.slot IS DISTINCT FROM $13)");
    }
}

/// The WAL has a retry a moment before others see its commit, and a condition is first asked of
/// what is seen: this waits for it.
constexpr const char* lock_letter_sql =
    "SELECT FROM walrelay.dead_letter WHERE id = $1::bigint FOR UPDATE";

/// After it: the letter $1 whose retry $2 failed is that letter again. Once more without harm: a
/// later retry has another number.
constexpr const char* reopen_sql = R"sql(
UPDATE walrelay.dead_letter
   SET retry_fate = 'failed', dead_at = now(), subject = nullif($4, ''),
       headers = json_object($5::text[], $6::text[]), reason = $7, error_code = $8::int,
       attempts = least($9::bigint, 2147483647)::int
 WHERE id = $1::bigint AND retries = $2::int AND slot = $3
)sql";

/// After it: the position of the retry, which is met again after a restart, with no content.
constexpr const char* note_retry_sql = R"sql(
INSERT INTO walrelay.dead_letter (position, source_schema, source_table, message_id, headers,
                                  reason, error_code, attempts, committed_at, retries, slot)
SELECT $1, $2, $3, nullif($4, ''), '{}',
       format('retry %s of dead letter %s failed', $6::int, $5::bigint), 0, 0,
       timestamptz 'epoch' + $7::bigint * interval '1 microsecond', -1, $8
  FROM walrelay.dead_letter AS same
 WHERE same.id = $5::bigint AND same.retries = $6::int AND same.retry_fate = 'failed'
   AND same.slot = $8
    ON CONFLICT (position) DO NOTHING
)sql";

/// Such a row has no place in the WAL that anybody knows, and rows of two tables, or two rows of
/// one, can have the same id: each is on record and answers for one. {0}: the slot's column, {1}:
/// its value.
constexpr const char* leave_out_format = R"sql(
INSERT INTO walrelay.dead_letter (position, source_schema, source_table, message_id, headers,
                                  reason, error_code, attempts, committed_at, retries{0})
SELECT format('left out of %s: %s', $1::text, gen_random_uuid()),
       row.source_schema, row.source_table, nullif(row.message_id, ''), '{{}}',
       format('left out at %s: neither in the stream nor brought by slot %s',
              date_trunc('second', now()), $1::text),
       0, 0, timestamptz 'epoch' + row.created_at * interval '1 microsecond', -1{1}
  FROM unnest($2::text[], $3::text[], $4::text[], $5::bigint[])
       AS row (source_schema, source_table, message_id, created_at)
)sql";

/// A slot sends the transactions whose commits end after what it has confirmed.
std::string positions_sql() {
    return fmt::format(
        "SELECT pg_catalog.split_part(letter.position, '@', 1) FROM {} WHERE {} AND "
        "pg_catalog.split_part(letter.position, '.', 3) COLLATE \"C\" >= $3",
        letters_sql, is_own_letter_sql);
}

/// Names and values of its headers.
std::pair<std::string, std::string> headers_of(const dead_letter& letter) {
    std::vector<std::string> names;
    std::vector<std::string> values;
    for (const auto& [name, value] : letter.headers) {
        names.push_back(name);
        values.push_back(value);
    }
    return {array_literal(names), array_literal(values)};
}

/// Which of the parameters is the row itself, by far the largest.
constexpr std::size_t event_index = 7;

/// Without the row.
std::vector<std::string> parameters_of(const dead_letter& letter, std::string_view slot,
                                       letter_key key) {
    auto [names, values] = headers_of(letter);
    std::vector<std::string> parameters{
        to_string(letter.where),
        letter.source.schema,
        letter.source.name,
        letter.message_id,
        letter.subject,
        std::move(names),
        std::move(values),
        "",
        letter.reason,
        std::to_string(letter.error_code),
        std::to_string(letter.attempts),
        std::to_string(letter.committed_at.time_since_epoch().count())};
    if (key != letter_key::without_slot) {
        parameters.emplace_back(slot);
    }
    return parameters;
}

statement reopening(const dead_letter& letter, const std::string& slot) {
    auto [names, values] = headers_of(letter);
    return {reopen_sql,
            {std::to_string(letter.retry->letter), std::to_string(letter.retry->count), slot,
             letter.subject, std::move(names), std::move(values), letter.reason,
             std::to_string(letter.error_code), std::to_string(letter.attempts)}};
}

std::vector<std::string> parameters_of_note(const dead_letter& letter, const std::string& slot) {
    return {to_string(letter.where),
            letter.source.schema,
            letter.source.name,
            letter.message_id,
            std::to_string(letter.retry->letter),
            std::to_string(letter.retry->count),
            std::to_string(letter.committed_at.time_since_epoch().count()),
            slot};
}

/// Of what a statement carries, nearly.
std::size_t size_of(const dead_letter& letter) {
    std::size_t bytes = letter.event.size() + letter.reason.size() + letter.message_id.size() +
                        letter.subject.size();
    for (const auto& [name, value] : letter.headers) {
        bytes += 2 * (name.size() + value.size());
    }
    return bytes;
}

std::string name_of(const dead_letter& letter) {
    return fmt::format("the row of {} at position {}", to_string(letter.source),
                       to_string(letter.where));
}

error too_large(const dead_letter& letter) {
    return {errc::postgres_unsuitable,
            name_of(letter) +
                " can neither be delivered nor be kept as a dead letter: PostgreSQL "
                "takes no statement of more than 1 GB. The slot was not moved",
            "take the table out of [[outbox]], or shorten what is written into it and recreate the "
            "slot"};
}

error explain_insert(const server_report& report, const connection& sql,
                     const dead_letter& letter) {
    auto failure = explain(report, {.action = server_action::query, .role = sql.role()});
    if (report.sqlstate == sqlstate::insufficient_privilege) {
        failure.what = fmt::format(
            "the role {} may not write into walrelay.dead_letter, so {} was not kept "
            "and the slot was not moved",
            sql.role(), name_of(letter));
        failure.remedy = grants_sql(own_table::dead_letter, sql.role());
    } else if (failure.code == errc::postgres_unsuitable) {
        failure.what = fmt::format(
            "PostgreSQL refused to keep {} in walrelay.dead_letter; the "
            "slot was not moved",
            name_of(letter));
        failure.remedy =
            "if the table is not the one of sql/dead_letter.sql: ALTER TABLE walrelay.dead_letter "
            "RENAME TO dead_letter_before; then: walrelay init";
    }
    return failure;
}

/// No more than `bytes` of it, and no character halved.
std::string beginning_of(const std::string& text, std::size_t bytes) {
    if (text.size() <= bytes) {
        return text;
    }
    while (bytes > 0 && continues_a_character(text[bytes])) {
        --bytes;
    }
    return text.substr(0, bytes);
}

/// What is inserted, and the status of its row only where that is new.
statement with_status(const letter_to_store& each, statement insert, std::size_t error_bytes) {
    if (!each.status) {
        return insert;
    }
    const auto& letter = *each.letter;
    const auto& status = *each.status;
    const auto next = [&](std::string value) {
        insert.parameters.emplace_back(std::move(value));
        return "$" + std::to_string(insert.parameters.size());
    };
    const auto row = next(status.key);
    const auto why = next(beginning_of(letter.reason, error_bytes));
    const auto attempts = next(std::to_string(letter.attempts));
    insert.sql =
        fmt::format("WITH kept AS ({} RETURNING position)\n{} AND EXISTS (SELECT FROM kept)",
                    insert.sql, status.make_update(row, why, attempts));
    return insert;
}

statement inserting(const letter_to_store& each, letter_key key) {
    auto parameters = parameters_of(*each.letter, each.slot, key);
    return {
        insert_sql(key),
        {std::make_move_iterator(parameters.begin()), std::make_move_iterator(parameters.end())},
        statement::lent_value{event_index, &each.letter->event}};
}

statement noting(const letter_to_store& each) {
    const auto parameters = parameters_of_note(*each.letter, each.slot);
    return {note_retry_sql, {parameters.begin(), parameters.end()}};
}

bool is_marked(const letter_to_store& each) {
    return each.status && each.status->marked;
}

std::string_view id_of(const letter_to_store& each) {
    const auto& key = each.letter->key;
    return key ? *key : std::string_view(each.status->key);
}

statement marking(std::size_t place, const dead_letter_status& status,
                  const std::vector<std::string_view>& ids) {
    return {mark_as_own_sql,
            {std::to_string(place), status.table.schema, status.table.name, own_ids_json(ids),
             status.key_column}};
}

/// One for each table.
void add_marks(const std::vector<letter_to_store>& letters, std::vector<statement>& all) {
    struct marked_rows {
        const dead_letter_status* of = nullptr;
        std::vector<std::string_view> ids = {};
    };
    std::map<std::pair<std::string, std::string>, marked_rows> tables;
    for (const auto& each : letters) {
        if (each.status) {
            const auto& table = each.status->table;
            auto& rows = tables[{table.schema, table.name}];
            rows.of = &*each.status;
            rows.ids.push_back(id_of(each));
        }
    }
    std::size_t place = 0;
    for (const auto& [table, rows] : tables) {
        all.push_back(marking(++place, *rows.of, rows.ids));
    }
}

/// Marked as walrelay's own where that is needed.
/// Nothing was made of the retry, so that the letter has it all; where that is another one's by
/// now, or dropped, there is nothing to keep. Met again, the retry is declined again.
bool is_declined(const letter_to_store& each, const std::vector<letter_key>& keys) {
    return each.letter->retry && each.letter->event.empty() &&
           keys.front() != letter_key::without_slot;
}

std::vector<statement> transaction_of(const std::vector<letter_to_store>& letters,
                                      const std::vector<letter_key>& keys,
                                      std::size_t error_bytes) {
    const bool marked = std::ranges::any_of(letters, is_marked);
    std::vector<statement> all{{wait_for_others_sql}};
    if (marked) {
        add_marks(letters, all);
    }
    for (const auto& each : letters) {
        const auto add = [&](statement insert) {
            all.push_back(with_status(each, std::move(insert), error_bytes));
        };
        if (each.letter->retry && keys.front() != letter_key::without_slot) {
            all.push_back({lock_letter_sql, {std::to_string(each.letter->retry->letter)}});
            all.push_back(reopening(*each.letter, each.slot));
            add(noting(each));
        }
        if (is_declined(each, keys)) {
            continue;
        }
        for (const auto key : keys) {
            add(inserting(each, key));
        }
    }
    if (marked) {
        all.push_back({empty_control_sql});
    }
    return all;
}

error explain_status(const server_report& report, const connection& sql, const dead_letter& letter,
                     const dead_letter_status& status) {
    if (status.marked && is_about(report, own_table::control)) {
        return explain_use(report, sql, own_table::control);
    }
    auto failure = explain_insert(report, sql, letter);
    const bool of_the_letters = report.message.find("dead_letter") != std::string::npos ||
                                report.message.find("schema walrelay") != std::string::npos;
    if (failure.code != errc::postgres_unsuitable || of_the_letters) {
        return failure;
    }
    failure.what = fmt::format(
        "PostgreSQL refuses outbox.on_dead_letter of table {}, so {} was not kept and the slot was "
        "not moved: {}",
        to_string(status.table), name_of(letter), status.make_update("$1", "$2", "$3"));
    failure.remedy =
        is_about_row_security(report) ? allow_all_rows(quote_table(status.table), sql.role())
        : report.sqlstate == sqlstate::insufficient_privilege
            ? fmt::format("GRANT SELECT, UPDATE ON {} TO {};", quote_table(status.table),
                          quote_identifier(sql.role()))
            : "correct outbox.on_dead_letter (walrelay check tries it), or what PostgreSQL names";
    return failure;
}

error explain_letter(const server_report& report, const connection& sql,
                     const letter_to_store& each) {
    return each.status ? explain_status(report, sql, *each.letter, *each.status)
                       : explain_insert(report, sql, *each.letter);
}

/// Tries it with less and less of the reason, as far as a column of the outbox does not hold it.
template <class Make>
awaitable<answer> run_shortened(connection& sql, const letter_to_store& each, Make make) {
    constexpr std::size_t fewest_bytes = 16;
    for (auto error_bytes = each.letter->reason.size();; error_bytes /= 2) {
        std::vector<statement> all = make(error_bytes);
        auto done = co_await sql.ask_together(std::move(all));
        const bool is_too_long = each.status && done.has_error() &&
                                 done.error().sqlstate == sqlstate::too_long_for_column &&
                                 error_bytes > fewest_bytes;
        if (!is_too_long) {
            co_return done;
        }
    }
}

awaitable<answer> insert_by(connection& sql, const letter_to_store& each,
                            std::vector<letter_key> keys) {
    const std::vector<letter_to_store> alone{each};
    const auto make = [&](std::size_t error_bytes) {
        return transaction_of(alone, keys, error_bytes);
    };
    co_return co_await run_shortened(sql, each, make);
}

bool is_large(const letter_to_store& each) {
    constexpr std::size_t large_bytes = std::size_t{1} << 20U;
    return each.letter->event.size() >= large_bytes;
}

/// A large one goes once, and a second time only where its position is another slot's.
awaitable<answer> insert(connection& sql, const letter_to_store& each, bool names_slot = true) {
    auto keys = names_slot ? keys_with_slot : std::vector{letter_key::without_slot};
    if (!names_slot || !is_large(each)) {
        co_return co_await insert_by(sql, each, std::move(keys));
    }
    keys.pop_back();
    auto done = co_await insert_by(sql, each, std::move(keys));
    if (done.has_error()) {
        co_return done;
    }
    std::vector<std::string> which{to_string(each.letter->where), each.slot};
    auto taken = co_await sql.ask(is_of_another_sql, std::move(which));
    if (taken.has_error() || taken->empty() || !taken->flag(0, 0)) {
        co_return taken.has_error() ? std::move(taken) : std::move(done);
    }
    std::vector<letter_key> the_other{letter_key::position_and_slot};
    co_return co_await insert_by(sql, each, std::move(the_other));
}

/// The status alone.
awaitable<answer> update(connection& sql, const letter_to_store& each) {
    const auto make = [&each](std::size_t error_bytes) {
        const auto& status = *each.status;
        std::vector<statement> all{{wait_for_others_sql}};
        if (status.marked) {
            all.push_back(marking(1, status, {id_of(each)}));
        }
        all.push_back({status.make_update("$1", "$2", "$3"),
                       {status.key, beginning_of(each.letter->reason, error_bytes),
                        std::to_string(each.letter->attempts)}});
        if (status.marked) {
            all.push_back({empty_control_sql});
        }
        return all;
    };
    co_return co_await run_shortened(sql, each, make);
}

/// The one that a statement did not find.
awaitable<result<void>> make_missing(connection& sql, const server_report& report,
                                     const dead_letter& letter, std::vector<table_name> outboxes) {
    outboxes.push_back(letter.source);
    const auto table =
        is_about(report, own_table::control) ? own_table::control : own_table::dead_letter;
    return create_table(sql, table, std::move(outboxes));
}

/// And not about a column of the outbox.
bool is_about_slot(const server_report& report) {
    return report.message.find("slot") != std::string::npos ||
           report.message.find("retry_fate") != std::string::npos;
}

awaitable<result<void>> store(connection& sql, const letter_to_store& each,
                              std::vector<table_name> outboxes) {
    if (size_of(*each.letter) > stored_bytes_limit) {
        co_return too_large(*each.letter);
    }
    auto done = co_await insert(sql, each);
    if (done.has_error() && lacks_column(done.error()) && is_about_slot(done.error())) {
        // Changed where this role may.
        std::vector<table_name> of_all(outboxes);
        const auto changed = co_await create_table(sql, own_table::dead_letter, std::move(of_all));
        done = co_await insert(sql, each, changed.has_value());
        if (done.has_error() && lacks_column(done.error())) {
            done = co_await insert(sql, each, false);
        }
    }
    if (done.has_error() && is_missing(done.error())) {
        const auto made =
            co_await make_missing(sql, done.error(), *each.letter, std::move(outboxes));
        if (!made) {
            co_return made.error();
        }
        done = co_await insert(sql, each);
    }
    if (done.has_error()) {
        co_return explain_letter(done.error(), sql, each);
    }
    co_return result<void>{};
}

/// Whether PostgreSQL took them. Where it did not, each of them tells why.
awaitable<bool> store_together(connection& sql, const std::vector<letter_to_store>& letters) {
    std::size_t bytes = 0;
    for (const auto& each : letters) {
        bytes += size_of(*each.letter);
    }
    if (bytes > stored_bytes_limit || std::ranges::any_of(letters, is_large)) {
        co_return false;
    }
    auto all = transaction_of(letters, keys_with_slot, std::string::npos);
    const auto done = co_await sql.ask_together(std::move(all));
    co_return !done.has_error();
}

}  // namespace

awaitable<result<void>> store_dead_letters(connection& sql, std::vector<letter_to_store> letters,
                                           std::vector<table_name> outboxes) {
    const auto durable = co_await sql.query(wait_for_flush_sql);
    if (!durable) {
        co_return durable.error();
    }
    if (letters.size() > 1) {
        const bool stored = co_await store_together(sql, letters);
        if (stored) {
            co_return result<void>{};
        }
    }
    for (const auto& each : letters) {
        auto stored = co_await store(sql, each, outboxes);
        if (!stored) {
            co_return stored;
        }
    }
    co_return result<void>{};
}

awaitable<result<void>> set_statuses(connection& sql, std::vector<letter_to_store> letters) {
    for (const auto& each : letters) {
        if (!each.status) {
            continue;
        }
        const auto done = co_await update(sql, each);
        if (done.has_error()) {
            co_return explain_status(done.error(), sql, *each.letter, *each.status);
        }
    }
    co_return result<void>{};
}

awaitable<result<void>> leave_out(connection& sql, std::string slot, std::vector<row_left_out> rows,
                                  std::vector<table_name> outboxes) {
    auto [schemas, names] = arrays_of(rows, &row_left_out::table);
    std::vector<std::string> ids;
    std::vector<std::string> times;
    for (auto& row : rows) {
        ids.push_back(std::move(row.message_id));
        times.push_back(std::to_string(row.created_at.time_since_epoch().count()));
    }
    const std::vector<std::string> values{std::move(slot), std::move(schemas), std::move(names),
                                          array_literal(ids), array_literal(times)};
    const auto with_slot = fmt::format(leave_out_format, ", slot", ", $1");
    auto done = co_await sql.ask(with_slot, values);
    if (done.has_error() && (is_missing(done.error()) || lacks_column(done.error()))) {
        const auto made = co_await create_table(sql, own_table::dead_letter, std::move(outboxes));
        if (!made && is_missing(done.error())) {
            co_return made.error();
        }
        done = co_await sql.ask(with_slot, values);
    }
    if (done.has_error() && lacks_column(done.error())) {
        const auto without_slot = fmt::format(leave_out_format, "", "");
        done = co_await sql.ask(without_slot, values);
    }
    if (done.has_error()) {
        co_return explain_use(done.error(), sql, own_table::dead_letter);
    }
    co_return result<void>{};
}

awaitable<result<std::vector<position>>> dead_letters_after(connection& sql, lsn confirmed,
                                                            std::string slot) {
    const auto owner = co_await find_letter_owner(sql, std::move(slot));
    if (!owner) {
        co_return owner.error();
    }
    std::vector<std::string> from{owner->slot, owner->unnamed(),
                                  fmt::format("{:016X}", confirmed.value)};
    auto statement = positions_sql();
    const auto rows = co_await sql.ask(std::move(statement), std::move(from));
    std::vector<position> found;
    if (rows.has_error()) {
        if (is_missing(rows.error())) {
            co_return std::move(found);
        }
        co_return explain_use(rows.error(), sql, own_table::dead_letter);
    }
    for (const auto& row : rows->rows()) {
        if (const auto where = parse_position(row.front().value_or(""))) {
            found.push_back(*where);
        }
    }
    co_return std::move(found);
}

}  // namespace walrelay::postgres
