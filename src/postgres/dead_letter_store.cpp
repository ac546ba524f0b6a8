#include "postgres/dead_letter_store.hpp"

#include "core/sql_text.hpp"
#include "postgres/array_literal.hpp"
#include "postgres/dead_letter_sql.hpp"
#include "postgres/server_error.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <utility>
#include <vector>

namespace walrelay::postgres {
namespace {

using boost::asio::awaitable;

namespace sqlstate {
constexpr std::string_view insufficient_privilege = "42501";
constexpr std::string_view undefined_table = "42P01";
constexpr std::string_view undefined_schema = "3F000";
constexpr std::string_view unique_violation = "23505";
constexpr std::string_view duplicate_schema = "42P06";
constexpr std::string_view duplicate_table = "42P07";
}  // namespace sqlstate

/// PostgreSQL ends the connection over a message of 1 GiB and more; this leaves room for the rest.
constexpr std::size_t stored_bytes_limit = 1'000'000'000;

constexpr const char* insert_sql = R"sql(
INSERT INTO walrelay.dead_letter (position, source_schema, source_table, message_id, subject,
                                  headers, event, reason, error_code, attempts, committed_at)
VALUES ($1, $2, $3, nullif($4, ''), nullif($5, ''), json_object($6::text[], $7::text[]),
        nullif($8, '')::json, $9, $10::int, least($11::bigint, 2147483647)::int,
        timestamptz 'epoch' + $12::bigint * interval '1 microsecond')
    ON CONFLICT (position) DO NOTHING
)sql";

/// The slot moves on once the letter is stored, so the letter must not be lost in a crash.
constexpr const char* wait_for_flush_sql =
    "SELECT set_config('synchronous_commit', 'on', false) "
    "WHERE current_setting('synchronous_commit') = 'off'";

std::vector<std::string> parameters_of(const dead_letter& letter) {
    std::vector<std::string> names;
    std::vector<std::string> values;
    for (const auto& [name, value] : letter.headers) {
        names.push_back(name);
        values.push_back(value);
    }
    return {to_string(letter.where),
            letter.source.schema,
            letter.source.name,
            letter.message_id,
            letter.subject,
            array_literal(names),
            array_literal(values),
            letter.event,
            letter.reason,
            std::to_string(letter.error_code),
            std::to_string(letter.attempts),
            std::to_string(letter.committed_at.time_since_epoch().count())};
}

std::size_t size_of(const std::vector<std::string>& parameters) {
    std::size_t bytes = 0;
    for (const auto& each : parameters) {
        bytes += each.size();
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

bool is_missing(const server_report& report) {
    return report.sqlstate == sqlstate::undefined_table ||
           report.sqlstate == sqlstate::undefined_schema;
}

error explain_create(const server_report& report, const connection& sql) {
    auto failure = explain(report, {.action = server_action::query, .role = sql.role()});
    if (report.sqlstate == sqlstate::insufficient_privilege) {
        failure.what = fmt::format(
            "the role {} may not create the table walrelay.dead_letter, "
            "which keeps the rows that cannot be delivered",
            sql.role());
        failure.remedy =
            "as a role that may create a schema: walrelay init (or sql/dead_letter.sql in psql), "
            "then: " +
            dead_letter_grants_sql(sql.role());
    } else if (failure.code == errc::postgres_unsuitable) {
        failure.what = "PostgreSQL did not create the table walrelay.dead_letter";
        failure.remedy = "mend what PostgreSQL names, then: walrelay init";
    }
    return failure;
}

error explain_insert(const server_report& report, const connection& sql,
                     const dead_letter& letter) {
    auto failure = explain(report, {.action = server_action::query, .role = sql.role()});
    if (report.sqlstate == sqlstate::insufficient_privilege) {
        failure.what = fmt::format(
            "the role {} may not write into walrelay.dead_letter, so {} was not kept "
            "and the slot was not moved",
            sql.role(), name_of(letter));
        failure.remedy = dead_letter_grants_sql(sql.role());
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

awaitable<result<void>> insert(connection& sql, const dead_letter& letter) {
    auto parameters = parameters_of(letter);
    if (size_of(parameters) > stored_bytes_limit) {
        co_return too_large(letter);
    }
    auto done = co_await sql.ask(insert_sql, parameters);
    if (done.has_error() && is_missing(done.error())) {
        const auto made = co_await create_dead_letter_table(sql);
        if (!made) {
            co_return made.error();
        }
        done = co_await sql.ask(insert_sql, std::move(parameters));
    }
    if (done.has_error()) {
        co_return explain_insert(done.error(), sql, letter);
    }
    co_return result<void>{};
}

}  // namespace

std::string_view dead_letter_table_sql() {
    return dead_letter_sql;
}

std::string dead_letter_grants_sql(std::string_view role) {
    const auto name = quote_identifier(role);
    return fmt::format(
        "GRANT USAGE ON SCHEMA walrelay TO {0}; "
        "GRANT SELECT, INSERT, UPDATE, DELETE ON walrelay.dead_letter TO {0};",
        name);
}

awaitable<result<void>> create_dead_letter_table(connection& sql) {
    auto done = co_await sql.ask(dead_letter_sql);
    const bool raced = done.has_error() && (done.error().sqlstate == sqlstate::unique_violation ||
                                            done.error().sqlstate == sqlstate::duplicate_schema ||
                                            done.error().sqlstate == sqlstate::duplicate_table);
    if (raced) {
        // Somebody else was making the same and is done now.
        done = co_await sql.ask(dead_letter_sql);
    }
    if (done.has_error()) {
        co_return explain_create(done.error(), sql);
    }
    co_return result<void>{};
}

awaitable<result<void>> store_dead_letter(connection& sql, const dead_letter& letter) {
    const auto durable = co_await sql.query(wait_for_flush_sql);
    if (!durable) {
        co_return durable.error();
    }
    co_return co_await insert(sql, letter);
}

}  // namespace walrelay::postgres
