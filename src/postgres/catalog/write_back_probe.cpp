#include "postgres/catalog/write_back_probe.hpp"

#include "core/sql_text.hpp"
#include "postgres/catalog/table_scope.hpp"
#include "postgres/catalog/write_back_sql.hpp"
#include "postgres/session/server_error.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace walrelay::postgres {
namespace {

using boost::asio::awaitable;

/// For the one transaction.
constexpr const char* search_path_sql =
    "SELECT set_config('search_path', $1, true), set_config('lock_timeout', '200ms', true)";
constexpr std::string_view lock_not_available = "55P03";

constexpr const char* type_name_sql = "SELECT format_type($1::oid, -1)";

struct wanted_statement {
    std::string setting;
    std::string right;
    std::string sql;
};

/// As the clean-up of rows writes it, but by the id; that of partitions drops them.
std::string delete_later_sql(const outbox_table& table, const keyed_rows& rows) {
    auto sql = "DELETE FROM " + rows_sql(rows.in) + " WHERE " +
               quote_identifier(key_column(table)) + " = ANY ($1::text[]::" + rows.key_type + "[])";
    if (!table.pending.empty()) {
        sql += " AND NOT coalesce((" + table.pending + "\n), false)";
    }
    return sql;
}

std::vector<wanted_statement> statements_of(const outbox_table& table, const keyed_rows& rows) {
    std::vector<wanted_statement> all;
    if (table.delete_after && !deletes_at_once(table) && !rows.in.partitioned) {
        all.push_back({table.pending.empty() ? "outbox.delete_after"
                                             : "outbox.delete_after with outbox.pending",
                       "SELECT, DELETE", delete_later_sql(table, rows)});
    }
    if (deletes_at_once(table)) {
        all.push_back(
            {"outbox.delete_after", "SELECT, DELETE", write_back_sql(table, rows, false)});
    } else if (!table.on_published.empty()) {
        all.push_back({table.pending.empty() ? "outbox.on_published"
                                             : "outbox.on_published with outbox.pending",
                       "SELECT, UPDATE", write_back_sql(table, rows, false)});
    }
    if (!table.on_dead_letter.empty()) {
        all.push_back({"outbox.on_dead_letter", "SELECT, UPDATE",
                       on_dead_letter_sql(table, rows, "$1", "$2", "$3")});
    }
    return all;
}

/// Of such a table the preflight says what is to be done first.
bool is_unsafe(const table_facts& table, bool has_writer) {
    return !table.foreign_reading.empty() ||
           (!has_writer && (!table.foreign_code.empty() || !table.foreign_triggers.empty() ||
                            !table.foreign_defaults.empty()));
}

/// NULL suits every type of parameter.
statement explain_of(const wanted_statement& wanted) {
    const std::size_t count = wanted.setting == "outbox.on_dead_letter" ? 3
                              : wanted.setting == "outbox.pending"      ? 0
                                                                        : 1;
    statement explained{"EXPLAIN " + wanted.sql};
    explained.parameters.resize(count);
    return explained;
}

awaitable<result<void>> probe(connection& sql, wanted_statement wanted, const std::string& path,
                              table_facts& into) {
    std::vector<statement> all{{search_path_sql, {path}}, explain_of(wanted)};
    const auto done = co_await sql.ask_together(std::move(all));
    if (done.has_value()) {
        co_return result<void>{};
    }
    if (done.error().sqlstate.empty()) {
        co_return explain(done.error(), {.action = server_action::query, .role = sql.role()});
    }
    if (done.error().sqlstate == lock_not_available) {
        co_return result<void>{};
    }
    const bool lacks_right = done.error().sqlstate == "42501";
    into.refused.push_back({std::move(wanted.setting), std::move(wanted.sql),
                            words_of(done.error()), lacks_right ? wanted.right : ""});
    co_return result<void>{};
}

}  // namespace

awaitable<result<void>> probe_write_backs(connection& sql, std::vector<outbox_table> asked,
                                          std::string search_path, bool has_writer,
                                          std::vector<table_facts>& tables) {
    for (std::size_t index = 0; index < asked.size() && index < tables.size(); ++index) {
        const auto& columns = tables[index].columns;
        const auto key = std::ranges::find(columns, key_column(asked[index]), &column::name);
        keyed_rows rows{scope_of(tables[index]), "text"};
        if (is_unsafe(tables[index], has_writer)) {
            continue;
        }
        if (key == columns.end() || statements_of(asked[index], rows).empty()) {
            continue;
        }
        std::vector<std::string> which{std::to_string(key->type)};
        const auto type = co_await sql.query(type_name_sql, std::move(which));
        if (!type) {
            co_return type.error();
        }
        rows.key_type = type->text(0, 0);
        const auto wanted = statements_of(asked[index], rows);
        for (const auto& each : wanted) {
            const auto probed = co_await probe(sql, each, search_path, tables[index]);
            if (!probed) {
                co_return probed.error();
            }
        }
    }
    co_return result<void>{};
}

awaitable<result<void>> probe_pending(connection& sql, std::vector<outbox_table> asked,
                                      std::string search_path, std::vector<table_facts>& tables) {
    for (std::size_t index = 0; index < asked.size() && index < tables.size(); ++index) {
        const auto& table = asked[index];
        if (table.pending.empty() || !tables[index].ordinary ||
            !tables[index].foreign_reading.empty()) {
            continue;
        }
        wanted_statement reading{"outbox.pending", "SELECT",
                                 "SELECT FROM " + rows_sql(scope_of(tables[index])) + " WHERE (" +
                                     table.pending + "\n)"};
        const auto probed = co_await probe(sql, std::move(reading), search_path, tables[index]);
        if (!probed) {
            co_return probed.error();
        }
    }
    co_return result<void>{};
}

}  // namespace walrelay::postgres
