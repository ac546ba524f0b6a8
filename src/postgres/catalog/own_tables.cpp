#include "postgres/catalog/own_tables.hpp"

#include "core/sql_text.hpp"
#include "postgres/catalog/inspection_queries.hpp"
#include "postgres/catalog/own_table_sql.hpp"
#include "postgres/session/array_literal.hpp"
#include "postgres/session/sqlstate.hpp"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <utility>

namespace walrelay::postgres {
namespace {

using boost::asio::awaitable;

struct about_table {
    std::string_view name;
    std::string_view sql;
    std::string_view rights;
    std::string_view purpose;
};

/// In the order of own_table.
constexpr std::array<about_table, 9> tables = {
    {{"dead_letter", dead_letter_sql, "SELECT, INSERT, UPDATE, DELETE",
      "keeps the rows that cannot be delivered"},
     {"halt", halt_sql, "SELECT, INSERT, UPDATE, DELETE",
      "keeps a relay that is started again from going on past a gap"},
     {"partition", partition_sql, "SELECT, INSERT, UPDATE, DELETE",
      "keeps rows of partitions that are detached or dropped before they are read, where the WAL "
      "does not name their table (wal2json)"},
     {"control", control_sql, "SELECT, INSERT, DELETE",
      "takes dead letters back to the relay, and tells its own updates from others"},
     {"slot_start", slot_start_sql, "SELECT, INSERT, UPDATE",
      "tells verify --since-slot which rows were there before the slot"},
     {"bookmark", bookmark_sql, "SELECT, INSERT, UPDATE, DELETE",
      "tells the slots that walrelay keeps for a replay from those of others"},
     {"trail", trail_sql, "SELECT, INSERT, UPDATE, DELETE",
      "tells which time a position of the trail belongs to"},
     {"replay", replay_sql, "SELECT, INSERT, UPDATE",
      "keeps what replays were asked for, and how far each has come"},
     {"witness", witness_sql, "SELECT, INSERT, UPDATE, DELETE",
      "tells a stream or a slot that has lost something from a quiet day"}}};

const about_table& about(own_table table) {
    return tables.at(static_cast<std::size_t>(table));
}

constexpr const char* has_table_sql = R"sql(
SELECT FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
 WHERE n.nspname = 'walrelay' AND c.relname = $1
)sql";

std::string replace_it(own_table table) {
    const auto& it = about(table);
    return fmt::format(
        "if the table is not the one of sql/{0}.sql: ALTER TABLE walrelay.{0} RENAME TO "
        "{0}_before; "
        "then: walrelay init",
        it.name);
}

error foreign_schema(own_table table, const connection& sql) {
    return {errc::postgres_unsuitable,
            fmt::format("walrelay.{}, which {}, is not used: the schema walrelay belongs to a role "
                        "that is not trusted",
                        about(table).name, about(table).purpose),
            fmt::format("if you made it: ALTER SCHEMA walrelay OWNER TO {}; else ALTER SCHEMA "
                        "walrelay RENAME TO walrelay_before; then: walrelay init",
                        quote_identifier(sql.role()))};
}

error explain_create(const server_report& report, const connection& sql, own_table table) {
    const auto& it = about(table);
    if (sql.avoids_own_schema()) {
        return foreign_schema(table, sql);
    }
    auto failure = explain(report, {.action = server_action::query, .role = sql.role()});
    if (report.sqlstate == sqlstate::insufficient_privilege) {
        failure.what = fmt::format("the role {} may not create the table walrelay.{}, which {}",
                                   sql.role(), it.name, it.purpose);
        failure.remedy = fmt::format(
            "as a role that may create a schema: walrelay init (or sql/{}.sql in psql), then: {}",
            it.name, grants_sql(table, sql.role()));
    } else if (failure.code == errc::postgres_unsuitable) {
        failure.what = fmt::format("PostgreSQL did not create the table walrelay.{}", it.name);
        failure.remedy = is_raised(report) ? fmt::format("{}; then: {}", how_past_event_triggers,
                                                         grants_sql(table, sql.role()))
                                           : "fix what PostgreSQL names, then: walrelay init";
    }
    return failure;
}

}  // namespace

std::string to_string(own_table table) {
    return fmt::format("walrelay.{}", about(table).name);
}

std::string_view create_table_sql(own_table table) {
    return about(table).sql;
}

std::string grants_sql(own_table table, std::string_view role) {
    const auto& it = about(table);
    const auto to = quote_identifier(role);
    const auto grants =
        fmt::format("GRANT USAGE ON SCHEMA walrelay TO {0}; GRANT {1} ON walrelay.{2} TO {0};", to,
                    it.rights, it.name);
    return table == own_table::control
               ? fmt::format("{} GRANT SELECT ON walrelay.control_key TO {};", grants, to)
               : grants;
}

bool is_missing(const server_report& report) {
    return report.sqlstate == sqlstate::undefined_table ||
           report.sqlstate == sqlstate::undefined_schema;
}

error explain_use(const server_report& report, const connection& sql, own_table table) {
    if (sql.avoids_own_schema()) {
        return foreign_schema(table, sql);
    }
    auto failure = explain(report, {.action = server_action::query, .role = sql.role()});
    if (report.sqlstate == sqlstate::insufficient_privilege) {
        failure.what = fmt::format("the role {} may not use {}, which {}", sql.role(),
                                   to_string(table), about(table).purpose);
        failure.remedy = grants_sql(table, sql.role());
    } else if (report.sqlstate == sqlstate::read_only) {
        failure.what = to_string(table) + " cannot be written";
        failure = with_state_behind(std::move(failure), report);
    } else if (failure.code == errc::postgres_unsuitable) {
        failure.what = "PostgreSQL refused a statement on " + to_string(table);
        failure.remedy = replace_it(table);
    }
    return failure;
}

awaitable<result<bool>> has_table(connection& sql, own_table table) {
    if (sql.avoids_own_schema()) {
        co_return false;
    }
    std::vector<std::string> name{std::string{about(table).name}};
    const auto found = co_await sql.query(has_table_sql, std::move(name));
    if (!found) {
        co_return found.error();
    }
    co_return !found->empty();
}

awaitable<result<own_table_states>> states_of_own_tables(connection& sql) {
    std::vector<std::string> names;
    std::vector<std::string> rights;
    for (const auto& each : tables) {
        names.emplace_back(each.name);
        rights.emplace_back(each.rights);
    }
    std::vector<std::string> which{array_literal(names), array_literal(rights)};
    const auto rows = co_await sql.query(queries::own_tables, std::move(which));
    if (!rows) {
        co_return rows.error();
    }
    const auto state_of = [&](own_table table) {
        const auto row = static_cast<std::size_t>(table);
        return own_table_facts{rows->flag(row, 0), rows->flag(row, 1), rows->flag(row, 3)};
    };
    co_return own_table_states{state_of(own_table::dead_letter), state_of(own_table::halt),
                               state_of(own_table::control),     state_of(own_table::bookmark),
                               state_of(own_table::trail),       state_of(own_table::witness),
                               state_of(own_table::slot_start),  state_of(own_table::replay),
                               state_of(own_table::partition),   rows->flag(0, 2)};
}

awaitable<result<void>> create_table(connection& sql, own_table table,
                                     std::vector<table_name> outboxes) {
    const std::string statement{create_table_sql(table)};
    auto done = co_await sql.ask(statement);
    const bool raced = done.has_error() && (done.error().sqlstate == sqlstate::unique_violation ||
                                            done.error().sqlstate == sqlstate::duplicate_schema ||
                                            done.error().sqlstate == sqlstate::duplicate_table);
    if (raced) {
        // Somebody else was making the same and is done now.
        done = co_await sql.ask(statement);
    }
    if (done.has_error()) {
        co_return explain_create(done.error(), sql, table);
    }
    // Whoever made the schema in the same moment need not be one of us.
    co_return co_await check_own_schema(sql, std::move(outboxes));
}

bool is_about(const server_report& report, own_table table) {
    const auto is_name = [&](std::size_t at) {
        return at < report.message.size() &&
               (std::isalnum(static_cast<unsigned char>(report.message[at])) != 0 ||
                report.message[at] == '_');
    };
    if (table == own_table::control && report.message.find("control_key") != std::string::npos) {
        return true;
    }
    const auto name = about(table).name;
    for (auto at = report.message.find(name); at != std::string::npos;
         at = report.message.find(name, at + 1)) {
        if ((at == 0 || !is_name(at - 1)) && !is_name(at + name.size())) {
            return true;
        }
    }
    return false;
}

}  // namespace walrelay::postgres
