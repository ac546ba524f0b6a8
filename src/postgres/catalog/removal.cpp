#include "postgres/catalog/removal.hpp"

#include "core/sql_text.hpp"
#include "postgres/session/fact_reader.hpp"
#include "postgres/session/server_error.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace walrelay::postgres {
namespace {

using boost::asio::awaitable;

/// By way of jsonb, because `synced` came with PostgreSQL 17.
constexpr const char* slots_sql = R"sql(
SELECT slot_name::text, coalesce(plugin::text, ''), coalesce(database::text, ''), active,
       coalesce(active_pid, 0), coalesce((to_jsonb(s) ->> 'synced')::bool, false),
       CASE WHEN restart_lsn IS NULL THEN 0 ELSE greatest(0, pg_wal_lsn_diff(
            CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()
                 ELSE pg_current_wal_lsn() END, restart_lsn))::int8 END
  FROM pg_replication_slots AS s
 WHERE NOT temporary
   AND (slot_name::text = $1 OR starts_with(slot_name::text, $1 || '_')
        OR (slot_type = 'logical' AND database = current_database()))
 ORDER BY slot_name
)sql";

constexpr const char* publication_sql = R"sql(
SELECT pg_get_userbyid(p.pubowner)::text, pg_has_role(p.pubowner, 'USAGE'), p.puballtables,
       n.nspname::text, c.relname::text
  FROM pg_publication AS p
  LEFT JOIN pg_publication_rel AS r ON r.prpubid = p.oid
  LEFT JOIN pg_class AS c ON c.oid = r.prrelid
  LEFT JOIN pg_namespace AS n ON n.oid = c.relnamespace
 WHERE p.pubname = $1 ORDER BY 4, 5
)sql";

/// From PostgreSQL 15 on.
constexpr const char* publication_schemas_sql = R"sql(
SELECT n.nspname::text
  FROM pg_publication AS p
  JOIN pg_publication_namespace AS s ON s.pnpubid = p.oid
  JOIN pg_namespace AS n ON n.oid = s.pnnspid
 WHERE p.pubname = $1 ORDER BY 1
)sql";
constexpr int version_of_publication_schemas = 150000;

/// What can stand in a schema by itself: an index, a sequence of a column and a row type go with
/// their table.
constexpr const char* schema_sql = R"sql(
SELECT pg_get_userbyid(n.nspowner)::text, pg_has_role(n.nspowner, 'USAGE'),
       c.relname::text, pg_has_role(c.relowner, 'USAGE'), c.relkind = 'r',
       EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attname = 'slot'
                AND NOT a.attisdropped),
       has_table_privilege(c.oid, 'SELECT'), has_table_privilege(c.oid, 'DELETE')
  FROM pg_namespace AS n
  LEFT JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
 WHERE n.nspname = 'walrelay' ORDER BY c.relname
)sql";

constexpr const char* functions_sql = R"sql(
SELECT proname::text FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
 WHERE n.nspname = 'walrelay' AND NOT (proname = 'control_proof' AND pronargs = 0) ORDER BY 1
)sql";

constexpr std::array<std::string_view, 10> known_tables = {
    "bookmark",  "control", "control_key", "dead_letter", "halt",
    "partition", "replay",  "slot_start",  "trail",       "witness"};

bool is_known(const std::string& table) {
    return std::ranges::find(known_tables, table) != known_tables.end();
}

std::string qualified(const std::string& table) {
    return quote_table({"walrelay", table});
}

class removal_reading {
public:
    removal_reading(connection& sql, std::string slot, std::string publication)
        : sql_(sql), slot_(std::move(slot)), publication_(std::move(publication)) {}

    [[nodiscard]] awaitable<result<removal_facts>> run();

private:
    [[nodiscard]] awaitable<result<void>> read_slots();
    [[nodiscard]] awaitable<result<void>> read_publication();
    [[nodiscard]] awaitable<result<void>> read_published_schemas();
    [[nodiscard]] awaitable<result<void>> read_schema();
    void take_relation(const row_set& rows, std::size_t row);
    [[nodiscard]] awaitable<result<void>> read_functions();
    [[nodiscard]] awaitable<result<void>> count_rows(removable_table& table);

    connection& sql_;
    std::string slot_;
    std::string publication_;
    removal_facts found_;
    /// Of the schema's tables: those that name slots.
    std::vector<std::string> of_slots_;
    std::vector<std::string> readable_;
};

awaitable<result<void>> removal_reading::read_slots() {
    std::vector<std::string> which{slot_};
    const auto rows = co_await sql_.query(slots_sql, std::move(which));
    if (!rows) {
        co_return rows.error();
    }
    fact_reader reader{*rows};
    for (std::size_t row = 0; row < rows->size(); ++row) {
        removable_slot one;
        one.name = rows->text(row, 0);
        one.plugin = rows->text(row, 1);
        one.database = rows->text(row, 2);
        one.active = rows->flag(row, 3);
        one.active_pid = reader.number<std::int32_t>(row, 4);
        one.synced = rows->flag(row, 5);
        one.held_bytes = reader.number<std::uint64_t>(row, 6);
        if (one.name == slot_) {
            found_.slot = std::move(one);
        } else {
            found_.others.push_back(std::move(one));
        }
    }
    co_return reader.failure() ? result<void>(*reader.failure()) : result<void>{};
}

awaitable<result<void>> removal_reading::read_publication() {
    std::vector<std::string> which{publication_};
    const auto rows = co_await sql_.query(publication_sql, std::move(which));
    if (!rows) {
        co_return rows.error();
    }
    for (std::size_t row = 0; row < rows->size(); ++row) {
        if (!found_.publication) {
            found_.publication.emplace();
            found_.publication->owner = rows->text(row, 0);
            found_.publication->owned = rows->flag(row, 1);
            found_.publication->for_all_tables = rows->flag(row, 2);
        }
        if (rows->at(row, 4)) {
            found_.publication->tables.push_back({rows->text(row, 3), rows->text(row, 4)});
        }
    }
    co_return co_await read_published_schemas();
}

awaitable<result<void>> removal_reading::read_published_schemas() {
    if (!found_.publication || sql_.version_number() < version_of_publication_schemas) {
        co_return result<void>{};
    }
    std::vector<std::string> which{publication_};
    const auto rows = co_await sql_.query(publication_schemas_sql, std::move(which));
    if (!rows) {
        co_return rows.error();
    }
    for (std::size_t row = 0; row < rows->size(); ++row) {
        found_.publication->schemas.push_back(rows->text(row, 0));
    }
    co_return result<void>{};
}

void removal_reading::take_relation(const row_set& rows, std::size_t row) {
    auto& schema = *found_.schema;
    removable_table one;
    one.name = rows.text(row, 2);
    one.is_known = is_known(one.name) && rows.flag(row, 4);
    one.may_delete = rows.flag(row, 7);
    schema.owned = schema.owned && rows.flag(row, 3);
    if (!one.is_known) {
        schema.strange.push_back(one.name);
        return;
    }
    if (rows.flag(row, 5)) {
        of_slots_.push_back(one.name);
    }
    if (rows.flag(row, 6)) {
        readable_.push_back(one.name);
    }
    schema.tables.push_back(std::move(one));
}

awaitable<result<void>> removal_reading::read_schema() {
    const auto rows = co_await sql_.query(schema_sql);
    if (!rows) {
        co_return rows.error();
    }
    for (std::size_t row = 0; row < rows->size(); ++row) {
        if (!found_.schema) {
            found_.schema.emplace();
            found_.schema->owner = rows->text(row, 0);
            found_.schema->owned = rows->flag(row, 1);
        }
        if (rows->at(row, 2)) {
            take_relation(*rows, row);
        }
    }
    if (!found_.schema) {
        co_return result<void>{};
    }
    for (auto& table : found_.schema->tables) {
        if (std::ranges::find(readable_, table.name) == readable_.end()) {
            continue;
        }
        if (auto counted = co_await count_rows(table); !counted) {
            co_return counted;
        }
    }
    co_return co_await read_functions();
}

awaitable<result<void>> removal_reading::read_functions() {
    const auto rows = co_await sql_.query(functions_sql);
    if (!rows) {
        co_return rows.error();
    }
    for (std::size_t row = 0; row < rows->size(); ++row) {
        found_.schema->strange.push_back(rows->text(row, 0));
    }
    co_return result<void>{};
}

awaitable<result<void>> removal_reading::count_rows(removable_table& table) {
    const bool of_slots = std::ranges::find(of_slots_, table.name) != of_slots_.end();
    // A dead letter that was dropped keeps a row without content.
    const std::string shown = table.name == "dead_letter" ? " WHERE retries >= 0" : "";
    auto statement = of_slots ? "SELECT slot, count(*) FROM " + qualified(table.name) +
                                    " WHERE slot IS NOT NULL GROUP BY slot ORDER BY slot"
                              : "SELECT NULL, count(*) FROM " + qualified(table.name) + shown;
    const auto rows = co_await sql_.query(std::move(statement));
    if (!rows) {
        co_return rows.error();
    }
    fact_reader reader{*rows};
    table.rows_of_slot = of_slots ? std::optional<std::uint64_t>(0) : std::nullopt;
    for (std::size_t row = 0; row < rows->size(); ++row) {
        const auto count = reader.number<std::uint64_t>(row, 1);
        table.rows += count;
        if (rows->at(row, 0) == slot_) {
            table.rows_of_slot = count;
        } else if (rows->at(row, 0)) {
            table.other_slots.push_back(rows->text(row, 0));
        }
    }
    co_return reader.failure() ? result<void>(*reader.failure()) : result<void>{};
}

awaitable<result<removal_facts>> removal_reading::run() {
    found_.database = sql_.database();
    found_.role = sql_.role();
    auto step = co_await read_slots();
    if (step) {
        step = co_await read_publication();
    }
    if (step) {
        step = co_await read_schema();
    }
    if (!step) {
        co_return step.error();
    }
    co_return std::move(found_);
}

}  // namespace

awaitable<result<removal_facts>> look_at_removal(connection& sql, std::string slot,
                                                 std::string publication) {
    removal_reading reading(sql, std::move(slot), std::move(publication));
    co_return co_await reading.run();
}

awaitable<result<void>> drop_publication(connection& sql, std::string publication) {
    const auto dropped = co_await sql.query("DROP PUBLICATION " + quote_identifier(publication));
    co_return dropped ? result<void>{} : result<void>(dropped.error());
}

awaitable<result<void>> forget_slot(connection& sql, std::string slot,
                                    std::vector<std::string> tables) {
    std::vector<statement> all;
    all.reserve(tables.size());
    for (const auto& each : tables) {
        all.push_back({"DELETE FROM " + qualified(each) + " WHERE slot = $1", {slot}});
    }
    const auto done = co_await sql.ask_together(std::move(all));
    if (done.has_error()) {
        co_return explain(done.error(), {.action = server_action::query, .role = sql.role()});
    }
    co_return result<void>{};
}

awaitable<result<void>> drop_own_schema(connection& sql, std::vector<std::string> tables) {
    std::vector<statement> all;
    all.reserve(tables.size() + 2);
    for (const auto& each : tables) {
        all.push_back({"DROP TABLE " + qualified(each), {}});
    }
    // The column's default, which went with its table.
    all.push_back({"DROP FUNCTION IF EXISTS walrelay.control_proof()", {}});
    all.push_back({"DROP SCHEMA walrelay", {}});
    const auto done = co_await sql.ask_together(std::move(all));
    if (done.has_error()) {
        co_return explain(done.error(), {.action = server_action::query, .role = sql.role()});
    }
    co_return result<void>{};
}

}  // namespace walrelay::postgres
