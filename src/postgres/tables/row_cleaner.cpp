#include "postgres/tables/row_cleaner.hpp"

#include "core/sql_text.hpp"
#include "postgres/catalog/fragment_path.hpp"
#include "postgres/session/array_literal.hpp"
#include "postgres/session/fact_reader.hpp"
#include "postgres/session/refusal.hpp"
#include "postgres/session/server_error.hpp"
#include "postgres/session/sqlstate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace walrelay::postgres {
namespace {

using boost::asio::awaitable;

/// Shorter than any deadlock_timeout that makes sense, so that nobody else is the victim.
constexpr std::array<const char*, 2> session_sql = {"SET lock_timeout = '500ms'",
                                                    "SET statement_timeout = '30s'"};

/// With -1 and not NULL: of char(36) the latter makes a type that holds one character.
constexpr const char* column_sql = R"sql(
SELECT pg_catalog.format_type(a.atttypid, -1), c.relkind = 'p'
  FROM pg_catalog.pg_attribute AS a
  JOIN pg_catalog.pg_class AS c ON c.oid = a.attrelid
  JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
 WHERE n.nspname = $1 AND c.relname = $2 AND a.attname = $3
   AND a.attnum > 0 AND NOT a.attisdropped
)sql";

/// $2 and $3 are the other outboxes, whose rows can have the same ids. Letters of a table that is
/// none of them, such as a partition, count.
constexpr const char* dead_letters_of_ids_sql = R"sql(
SELECT letter.message_id FROM walrelay.dead_letter AS letter
 WHERE letter.message_id = ANY ($1::pg_catalog.text[])
   AND NOT EXISTS (SELECT FROM ROWS FROM (pg_catalog.unnest($2::pg_catalog.text[]),
                                          pg_catalog.unnest($3::pg_catalog.text[]))
                            AS other (source_schema, source_table)
                    WHERE other.source_schema = letter.source_schema
                      AND other.source_table = letter.source_table)
)sql";

bool is_no_value(std::string_view sqlstate) {
    return sqlstate.starts_with("22");
}

/// As the output function of its type writes it: a cast takes the blanks of char(n) away, and makes
/// true of a boolean's t.
std::string text_of(const std::string& column) {
    return fmt::format("pg_catalog.format('%s', {})", quote_identifier(column));
}

/// By the value, so that an index serves, and by its text, because 7 and 007 are one number.
std::string condition_of(const rows_by_value& rows, const std::string& type) {
    auto condition =
        fmt::format("{} = ANY ($1::pg_catalog.text[]::{}[]) AND {} = ANY ($1::pg_catalog.text[])",
                    quote_identifier(rows.column), type, text_of(rows.column));
    for (const auto& each : rows.null_columns) {
        condition += fmt::format(" AND {} IS NULL", quote_identifier(each));
    }
    return condition;
}

/// How many, and whether the table was the one that is meant.
std::string delete_sql(const outbox_table& table, const table_scope& from,
                       const std::string& condition) {
    const auto is_meant = is_meant_sql(from);
    auto sql = fmt::format("WITH gone AS (DELETE FROM {} WHERE {} AND {}", rows_sql(from), is_meant,
                           condition);
    // A fragment may end with a comment, which must not reach what follows.
    if (!table.pending.empty()) {
        sql += fmt::format(" AND NOT coalesce(({}\n), false)", table.pending);
    }
    return sql + " RETURNING 1) SELECT pg_catalog.count(*), " + is_meant + " FROM gone";
}

error another_table(const table_name& table) {
    return {errc::postgres_lost,
            "published rows of table " + to_string(table) +
                " were not deleted: the name is that of another table now",
            "walrelay notices, and begins with the new table; if this stays, start it again"};
}

}  // namespace

awaitable<result<row_cleaner>> row_cleaner::begin(connection sql, const outbox_table& table,
                                                  std::uint32_t oid,
                                                  std::vector<table_name> outboxes) {
    for (const auto* const statement : session_sql) {
        const auto set = co_await sql.query(statement);
        if (!set) {
            co_return set.error();
        }
    }
    auto others = outboxes;
    std::erase(others, table.table);
    auto path = co_await use_fragment_path(sql, std::move(outboxes));
    if (!path) {
        co_return path.error();
    }
    row_cleaner made{std::move(sql), table, oid, std::move(path->open_schemas)};
    for (auto& each : others) {
        made.other_schemas_.push_back(std::move(each.schema));
        made.other_tables_.push_back(std::move(each.name));
    }
    co_return std::move(made);
}

error row_cleaner::explain_refusal(const server_report& report) const {
    const auto name = to_string(table_->table);
    error failure{errc::postgres_lost, "published rows of table " + name + " were not deleted", "",
                  words_of(report)};
    if (!comes_back(report.sqlstate)) {
        failure = with_state_behind(std::move(failure), report);
        if (report.sqlstate == sqlstate::query_canceled) {
            failure.remedy = "see that the column of message_id has an index";
        }
        return failure;
    }
    failure.code = errc::postgres_unsuitable;
    if (report.sqlstate == "42501") {
        failure.what =
            fmt::format("the role {} may not delete rows of table {}", sql_.role(), name);
        const auto table = quote_table(table_->table);
        failure.remedy = is_about_row_security(report)
                             ? allow_all_rows(table, sql_.role())
                             : fmt::format("GRANT SELECT, DELETE ON {} TO {};", table,
                                           quote_identifier(sql_.role()));
    } else {
        failure.remedy = "correct outbox.pending or outbox.delete_after in the configuration";
        if (!open_schemas_.empty()) {
            failure.remedy += "; " + explain_open_schemas(open_schemas_);
        }
    }
    return failure;
}

awaitable<result<keyed_rows>> row_cleaner::look_at(std::string column) {
    std::vector<std::string> which{table_->table.schema, table_->table.name, column};
    const auto rows = co_await sql_.query(column_sql, std::move(which));
    if (!rows) {
        co_return rows.error();
    }
    if (rows->empty()) {
        co_return error{errc::postgres_unsuitable,
                        fmt::format("table {} has no column {} by which its rows could be deleted",
                                    to_string(table_->table), column),
                        "correct outbox.message_id in the configuration"};
    }
    co_return keyed_rows{{table_->table, rows->flag(0, 1), oid_}, rows->text(0, 0)};
}

/// Where one value spoils all, each half is tried on its own.
awaitable<result<void>> row_cleaner::remove(rows_by_value rows, keyed_rows how,
                                            cleaned_rows& done) {
    auto sql = delete_sql(*table_, how.in, condition_of(rows, how.key_type));
    std::vector<std::string> which{array_literal(rows.values)};
    const auto answered = co_await sql_.ask(std::move(sql), std::move(which));
    if (answered.has_value()) {
        if (!answered->flag(0, 1)) {
            co_return another_table(table_->table);
        }
        fact_reader reader{*answered};
        done.deleted += reader.number<std::uint64_t>(0, 0);
        co_return result<void>{};
    }
    const auto& report = answered.error();
    if (outlook_for(report.sqlstate) != outlook::of_a_row) {
        co_return explain_refusal(report);
    }
    if (rows.values.size() == 1) {
        if (!is_no_value(report.sqlstate)) {
            done.kept.push_back(rows.values.front());
            done.why = words_of(report);
        }
        co_return result<void>{};
    }
    auto rest = rows;
    const auto middle = rows.values.begin() + static_cast<std::ptrdiff_t>(rows.values.size() / 2);
    rest.values.assign(middle, rows.values.end());
    rows.values.erase(middle, rows.values.end());
    const auto first = co_await remove(std::move(rows), how, done);
    if (!first) {
        co_return first;
    }
    co_return co_await remove(std::move(rest), std::move(how), done);
}

awaitable<result<void>> row_cleaner::find_pending(rows_by_value rows, keyed_rows how,
                                                  cleaned_rows& done) {
    auto sql = fmt::format("SELECT {} FROM {} WHERE {} AND ({}\n)", text_of(rows.column),
                           rows_sql(how.in), condition_of(rows, how.key_type), table_->pending);
    std::vector<std::string> which{array_literal(rows.values)};
    const auto found = co_await sql_.ask(std::move(sql), std::move(which));
    if (found.has_error()) {
        // A value of another type among them: its row is none of those that are there.
        if (is_no_value(found.error().sqlstate) && rows.values.size() > 1) {
            for (const auto& value : rows.values) {
                rows_by_value one{rows.column, rows.null_columns, {value}};
                const auto looked = co_await find_pending(std::move(one), how, done);
                if (!looked) {
                    co_return looked;
                }
            }
            co_return result<void>{};
        }
        co_return is_no_value(found.error().sqlstate) ? result<void>{}
                                                      : explain_refusal(found.error());
    }
    for (std::size_t row = 0; row < found->size(); ++row) {
        done.kept.push_back(found->text(row, 0));
    }
    co_return result<void>{};
}

awaitable<result<cleaned_rows>> row_cleaner::clean(rows_by_value rows) {
    cleaned_rows done;
    if (rows.values.empty()) {
        co_return done;
    }
    const auto how = co_await look_at(rows.column);
    if (!how) {
        co_return how.error();
    }
    auto all = rows;
    const auto removed = co_await remove(std::move(all), *how, done);
    if (!removed) {
        co_return removed.error();
    }
    if (!table_->pending.empty() && done.deleted < rows.values.size()) {
        const auto looked = co_await find_pending(std::move(rows), *how, done);
        if (!looked) {
            co_return looked.error();
        }
    }
    co_return done;
}

awaitable<result<std::vector<std::string>>> row_cleaner::there_among(rows_by_value rows) {
    const auto how = co_await look_at(rows.column);
    if (!how) {
        co_return how.error();
    }
    auto sql = fmt::format("SELECT {} FROM {} WHERE {}", text_of(rows.column), rows_sql(how->in),
                           condition_of(rows, how->key_type));
    std::vector<std::string> which{array_literal(rows.values)};
    const auto found = co_await sql_.ask(std::move(sql), std::move(which));
    std::vector<std::string> there;
    if (found.has_error() && outlook_for(found.error().sqlstate) == outlook::of_a_row) {
        // A value that the column cannot have is that of no row.
        for (const auto& value : rows.values) {
            if (rows.values.size() == 1) {
                break;
            }
            rows_by_value one{rows.column, rows.null_columns, {value}};
            auto looked = co_await there_among(std::move(one));
            if (!looked) {
                co_return looked.error();
            }
            there.insert(there.end(), looked->begin(), looked->end());
        }
        co_return there;
    }
    if (found.has_error()) {
        co_return explain_refusal(found.error());
    }
    for (std::size_t row = 0; row < found->size(); ++row) {
        there.push_back(found->text(row, 0));
    }
    co_return there;
}

awaitable<result<std::vector<std::string>>> row_cleaner::dead_among(std::vector<std::string> ids) {
    std::vector<std::string> dead;
    std::vector<std::string> which{array_literal(ids), array_literal(other_schemas_),
                                   array_literal(other_tables_)};
    const auto rows = co_await sql_.ask(dead_letters_of_ids_sql, std::move(which));
    if (rows.has_error()) {
        const auto& state = rows.error().sqlstate;
        if (state == "42P01" || state == "3F000") {
            co_return dead;
        }
        auto failure = explain(rows.error(), {.action = server_action::query});
        if (state == "42501") {
            failure.remedy = fmt::format(
                "GRANT USAGE ON SCHEMA walrelay TO {0}; GRANT SELECT ON walrelay.dead_letter TO "
                "{0};",
                quote_identifier(sql_.role()));
        }
        co_return failure;
    }
    for (std::size_t row = 0; row < rows->size(); ++row) {
        dead.push_back(rows->text(row, 0));
    }
    co_return dead;
}

}  // namespace walrelay::postgres
