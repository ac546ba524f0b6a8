#include "postgres/tables/outbox_writer.hpp"

#include "core/control.hpp"
#include "core/joined.hpp"
#include "core/sql_text.hpp"
#include "postgres/catalog/fragment_path.hpp"
#include "postgres/catalog/own_tables.hpp"
#include "postgres/catalog/write_back_sql.hpp"
#include "postgres/session/array_literal.hpp"
#include "postgres/session/commit_wait.hpp"
#include "postgres/session/fact_reader.hpp"
#include "postgres/session/refusal.hpp"
#include "postgres/session/server_error.hpp"
#include "postgres/tables/dead_letter_store.hpp"
#include "postgres/tables/letter_owner.hpp"
#include "postgres/tables/visibility.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace walrelay::postgres {
namespace {

using boost::asio::awaitable;

/// The slot's own, also those whose key names it.
std::string dead_letters_among_sql() {
    return fmt::format(
        "SELECT pg_catalog.split_part(letter.position, '@', 1) FROM {} WHERE {} AND "
        "(letter.position = ANY "
        "($3::text[]) OR letter.position = ANY (ARRAY(SELECT each || '@' || $1 FROM "
        "pg_catalog.unnest($3::text[]) AS each)))",
        letters_sql, is_own_letter_sql);
}

/// No text in PostgreSQL has more (MaxAllocSize in src/include/utils/memutils.h).
constexpr std::uint64_t largest_text_bytes = std::uint64_t{1} << 30U;

/// Whether a row was too large for the server to make a text of it: a program limit, or the error
/// of palloc, which has no code of its own.
bool is_beyond_text(const server_report& report) {
    return report.sqlstate == "54000" ||
           (report.sqlstate == "XX000" &&
            report.message.find("invalid memory alloc request size") != std::string::npos);
}

error explain_write_back(const server_report& report, const connection& sql,
                         const outbox_table& table, const std::string& statement) {
    const bool deletes = deletes_at_once(table);
    const std::string setting = deletes ? "outbox.delete_after" : "outbox.on_published";
    const auto name = to_string(table.table);
    error failure{errc::postgres_lost, "rows of table " + name + " could not be written back", "",
                  words_of(report)};
    if (!comes_back(report.sqlstate)) {
        return with_state_behind(std::move(failure), report);
    }
    failure.code = errc::postgres_unsuitable;
    if (report.sqlstate == "42501") {
        failure.what = fmt::format("the role {} may not {} published rows of table {}", sql.role(),
                                   deletes ? "delete" : "update", name);
        failure.remedy =
            is_about_row_security(report)
                ? allow_all_rows(quote_table(table.table), sql.role())
                : fmt::format("GRANT SELECT, {} ON {} TO {};", deletes ? "DELETE" : "UPDATE",
                              quote_table(table.table), quote_identifier(sql.role()));
        return failure;
    }
    failure.what = fmt::format("PostgreSQL refuses {} of table {}: {}", setting, name, statement);
    failure.remedy = fmt::format(
        "correct {} (walrelay check tries it), or what PostgreSQL names in the table; then start "
        "again: the rows are written back then",
        setting);
    return failure;
}

error about(const outbox_table& table, error why) {
    why.what = "rows of table " + to_string(table.table) + " are not written back: " + why.what;
    return why;
}

}  // namespace

awaitable<result<outbox_writer>> outbox_writer::begin(connection sql,
                                                      std::vector<table_name> outboxes,
                                                      std::string slot) {
    for (const auto* const each : {wait_for_flush_sql, wait_for_others_sql}) {
        const auto set = co_await sql.query(each);
        if (!set) {
            co_return set.error();
        }
    }
    auto path = co_await use_fragment_path(sql, outboxes);
    if (!path) {
        co_return path.error();
    }
    outbox_writer made{std::move(sql), std::move(outboxes), std::move(path->open_schemas)};
    made.slot_ = std::move(slot);
    co_return std::move(made);
}

error outbox_writer::explain_refusal(const server_report& report, const outbox_table& table,
                                     const std::string& statement) const {
    if (table.table.name != control_table().name && is_about(report, own_table::control)) {
        return explain_use(report, sql_, own_table::control);
    }
    auto failure = explain_write_back(report, sql_, table, statement);
    if (failure.code == errc::postgres_unsuitable && !open_schemas_.empty()) {
        failure.remedy =
            followed_by(std::move(failure.remedy), explain_open_schemas(open_schemas_));
    }
    return failure;
}

awaitable<result<void>> outbox_writer::leave_unfitting(std::vector<written_row>& rows,
                                                       key_kind kind) {
    std::vector<std::string> keys;
    keys.reserve(rows.size());
    for (const auto& row : rows) {
        keys.push_back(row.key);
    }
    const auto fitting = co_await fitting_keys(sql_, std::move(kind), std::move(keys));
    if (!fitting) {
        co_return fitting.error();
    }
    std::vector<written_row> left;
    for (std::size_t index = 0; index < rows.size(); ++index) {
        if ((*fitting)[index]) {
            left.push_back(std::move(rows[index]));
        }
    }
    rows = std::move(left);
    co_return result<void>{};
}

awaitable<result<std::set<std::string>>> outbox_writer::letters_among(
    const std::vector<std::string>& positions) {
    std::set<std::string> there;
    const auto owner = co_await find_letter_owner(sql_, slot_);
    if (!owner) {
        co_return owner.error();
    }
    std::vector<std::string> which{owner->slot, owner->unnamed(), array_literal(positions)};
    auto statement = dead_letters_among_sql();
    const auto found = co_await sql_.ask(std::move(statement), std::move(which));
    if (found.has_error()) {
        if (is_missing(found.error())) {
            co_return std::move(there);
        }
        co_return explain_use(found.error(), sql_, own_table::dead_letter);
    }
    for (std::size_t row = 0; row < found->size(); ++row) {
        there.insert(found->text(row, 0));
    }
    co_return std::move(there);
}

awaitable<result<void>> outbox_writer::leave_dead_letters(std::vector<written_row>& rows) {
    std::vector<std::string> doubtful;
    for (const auto& row : rows) {
        if (row.doubtful) {
            doubtful.push_back(to_string(*row.doubtful));
        }
    }
    if (doubtful.empty()) {
        co_return result<void>{};
    }
    const auto dead = co_await letters_among(doubtful);
    if (!dead) {
        co_return dead.error();
    }
    std::erase_if(rows, [&](const written_row& row) {
        return row.doubtful && dead->contains(to_string(*row.doubtful));
    });
    co_return result<void>{};
}

awaitable<result<void>> outbox_writer::write_back(const outbox_table& table,
                                                  std::vector<written_row> rows, bool retried) {
    auto kind = co_await key_kinds_.find(sql_, table);
    if (!kind) {
        co_return kind.error();
    }
    const auto chosen = co_await leave_dead_letters(rows);
    if (!chosen || rows.empty()) {
        co_return chosen;
    }
    std::set<transaction_id> xids;
    for (const auto& row : rows) {
        if (row.xid) {
            xids.insert(*row.xid);
        }
    }
    std::vector<transaction_id> writers(xids.begin(), xids.end());
    const auto seen = co_await wait_until_visible(sql_, std::move(writers));
    if (!seen) {
        co_return about(table, seen.error());
    }
    auto done = co_await change_rows(table, *kind, rows, retried);
    if (done.has_error() && is_about_types(done.error())) {
        kind = co_await key_kinds_.find_again(sql_, table);
        if (!kind) {
            co_return kind.error();
        }
        const auto fitting = co_await leave_unfitting(rows, *kind);
        if (!fitting || rows.empty()) {
            co_return fitting;
        }
        done = co_await change_rows(table, *kind, rows, retried);
    }
    if (done.has_error()) {
        // The column may have got another type.
        key_kinds_.forget();
        co_return explain_refusal(done.error(), table, write_back_sql(table, kind->rows, retried));
    }
    co_return result<void>{};
}

awaitable<answer> outbox_writer::change_rows(const outbox_table& table, key_kind kind,
                                             const std::vector<written_row>& rows, bool retried) {
    std::vector<std::string> keys;
    std::vector<std::string_view> ids;
    keys.reserve(rows.size());
    for (const auto& row : rows) {
        keys.push_back(kind.text_of(row.key));
        ids.emplace_back(row.key);
    }
    std::vector<statement> all{{wait_for_others_sql}};
    if (kind.is_marked) {
        all.push_back({mark_as_own_sql,
                       {"1", table.table.schema, table.table.name, own_ids_json(ids),
                        std::string(key_column(table))}});
    }
    all.push_back({write_back_sql(table, kind.rows, retried), {array_literal(keys)}});
    if (kind.is_marked) {
        all.push_back({empty_control_sql});
    }
    co_return co_await sql_.ask_together(std::move(all));
}

result<outbox_writer::fetched_row> outbox_writer::not_fetched(const server_report& report,
                                                              const outbox_table& table) const {
    if (is_beyond_text(report)) {
        return fetched_row{{}, largest_text_bytes};
    }
    auto failure = explain(report, {.action = server_action::query, .role = sql_.role()});
    failure.what = fmt::format("a row of table {} could not be read to publish it again",
                               to_string(table.table));
    if (failure.code == errc::postgres_unsuitable) {
        failure.remedy = is_about_row_security(report)
                             ? allow_all_rows(quote_table(table.table), sql_.role())
                             : fmt::format("GRANT SELECT ON {} TO {};", quote_table(table.table),
                                           quote_identifier(sql_.role()));
    }
    return failure;
}

awaitable<result<outbox_writer::fetched_row>> outbox_writer::fetch(const outbox_table& table,
                                                                   written_row row,
                                                                   std::uint64_t bytes_max) {
    std::vector<transaction_id> xids;
    if (row.xid) {
        xids.push_back(*row.xid);
    }
    const auto seen = co_await wait_until_visible(sql_, std::move(xids));
    if (!seen) {
        auto why = seen.error();
        why.what = "a row of table " + to_string(table.table) +
                   " cannot be read to publish it again: " + why.what;
        co_return why;
    }
    auto kind = co_await key_kinds_.find(sql_, table);
    if (!kind) {
        co_return kind.error();
    }
    auto rows = co_await find_row(table, *kind, row.key, bytes_max);
    if (rows.has_error() && is_about_types(rows.error())) {
        kind = co_await key_kinds_.find_again(sql_, table);
        if (!kind) {
            co_return kind.error();
        }
        std::vector<written_row> alone{row};
        const auto fitting = co_await leave_unfitting(alone, *kind);
        if (!fitting) {
            co_return fitting.error();
        }
        if (alone.empty()) {
            co_return fetched_row{};
        }
        rows = co_await find_row(table, *kind, row.key, bytes_max);
    }
    if (rows.has_error()) {
        co_return not_fetched(rows.error(), table);
    }
    if (!rows->empty()) {
        co_return fetched_row{std::move(*rows)};
    }
    co_return co_await measure_row(table, *kind, row.key, bytes_max);
}

awaitable<result<outbox_writer::fetched_row>> outbox_writer::measure_row(const outbox_table& table,
                                                                         key_kind kind,
                                                                         const std::string& key,
                                                                         std::uint64_t bytes_max) {
    std::vector<std::string> which{kind.text_of(key)};
    auto sql = row_bytes_sql(table, kind.rows);
    const auto bytes = co_await sql_.ask(std::move(sql), std::move(which));
    if (bytes.has_error()) {
        co_return not_fetched(bytes.error(), table);
    }
    if (bytes->empty()) {
        co_return fetched_row{};
    }
    fact_reader reader{*bytes};
    const auto size = reader.number<std::uint64_t>(0, 0);
    if (reader.failure()) {
        co_return *reader.failure();
    }
    // Between both statements it may have become small again, and is not read a third time.
    co_return fetched_row{{}, std::max(size, bytes_max + 1)};
}

awaitable<answer> outbox_writer::find_row(const outbox_table& table, key_kind kind,
                                          const std::string& key, std::uint64_t bytes_max) {
    std::vector<std::string> values{kind.text_of(key), std::to_string(bytes_max)};
    auto sql = fetch_row_sql(table, kind.rows);
    co_return co_await sql_.ask(std::move(sql), std::move(values));
}

awaitable<result<std::optional<dead_letter_status>>> outbox_writer::status_of(
    const row_set_aside& row, bool only_fitting) {
    std::optional<dead_letter_status> status;
    const auto& table = *row.table;
    if (table.on_dead_letter.empty() || !row.letter->key) {
        co_return std::move(status);
    }
    const auto kind = co_await key_kinds_.find(sql_, table);
    if (!kind) {
        co_return kind.error();
    }
    if (only_fitting) {
        std::vector<written_row> alone{{*row.letter->key}};
        const auto fitting = co_await leave_unfitting(alone, *kind);
        if (!fitting) {
            co_return fitting.error();
        }
        if (alone.empty()) {
            co_return std::move(status);
        }
    }
    status.emplace();
    status->table = table.table;
    status->key = kind->text_of(*row.letter->key);
    status->key_column = key_column(table);
    status->marked = kind->is_marked;
    status->make_update = [&table, rows = kind->rows](std::string_view of, std::string_view why,
                                                      std::string_view attempts) {
        return on_dead_letter_sql(table, rows, of, why, attempts);
    };
    co_return std::move(status);
}

awaitable<result<void>> outbox_writer::set_aside(std::vector<row_set_aside> rows) {
    return store(std::move(rows), part::all);
}

awaitable<result<void>> outbox_writer::set_statuses(std::vector<row_set_aside> rows) {
    return store(std::move(rows), part::statuses);
}

awaitable<result<void>> outbox_writer::keep_letters(std::vector<row_set_aside> rows) {
    return store(std::move(rows), part::letters);
}

awaitable<result<std::vector<outbox_writer::row_set_aside>>> outbox_writer::without_letter(
    std::vector<row_set_aside> rows) {
    std::vector<std::string> positions;
    positions.reserve(rows.size());
    for (const auto& row : rows) {
        positions.push_back(to_string(row.letter->where));
    }
    const auto there = co_await letters_among(positions);
    if (!there) {
        co_return there.error();
    }
    std::erase_if(rows, [&](const row_set_aside& row) {
        return there->contains(to_string(row.letter->where));
    });
    co_return std::move(rows);
}

awaitable<result<void>> outbox_writer::store(std::vector<row_set_aside> rows, part what) {
    auto stored = co_await store(rows, what, false);
    if (!stored && stored.error().code == errc::postgres_unsuitable) {
        // A column by which rows are found may have got another type.
        key_kinds_.forget();
        stored = co_await store(rows, what, true);
    }
    co_return stored;
}

awaitable<result<void>> outbox_writer::store(const std::vector<row_set_aside>& rows, part what,
                                             bool only_fitting) {
    std::vector<letter_to_store> letters;
    std::set<transaction_id> xids;
    for (const auto& row : rows) {
        result<std::optional<dead_letter_status>> status = std::optional<dead_letter_status>{};
        if (what != part::letters) {
            status = co_await status_of(row, only_fitting);
        }
        if (!status) {
            co_return status.error();
        }
        if (*status && row.letter->xid) {
            xids.insert(*row.letter->xid);
        }
        letters.push_back({row.letter, std::move(*status), slot_});
    }
    // The letters are not given out again for another try: relay/stall_watch tells of the wait.
    std::vector<transaction_id> writers(xids.begin(), xids.end());
    const auto seen = co_await wait_until_visible(sql_, std::move(writers), std::nullopt);
    if (!seen) {
        co_return seen.error();
    }
    if (what == part::statuses) {
        co_return co_await postgres::set_statuses(sql_, std::move(letters));
    }
    co_return co_await store_dead_letters(sql_, std::move(letters), outboxes_);
}

}  // namespace walrelay::postgres
