#include "postgres/partition_memory.hpp"

#include "core/sql_text.hpp"
#include "postgres/array_literal.hpp"
#include "postgres/fact_reader.hpp"
#include "postgres/partition_sql.hpp"
#include "postgres/server_error.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>
#include <vector>

namespace walrelay::postgres {
namespace {

using boost::asio::awaitable;

/// $1 the slot, then of each partition: schema and name of its root, its own schema and name.
constexpr const char* remember_sql = R"sql(
INSERT INTO walrelay.partition (slot, root_schema, root_table, leaf_schema, leaf_table)
SELECT $1, root_schema, root_table, leaf_schema, leaf_table
  FROM unnest($2::text[], $3::text[], $4::text[], $5::text[])
       AS leaf (root_schema, root_table, leaf_schema, leaf_table)
    ON CONFLICT (slot, leaf_schema, leaf_table)
    DO UPDATE SET root_schema = excluded.root_schema, root_table = excluded.root_table,
                  seen_at = now(), gone_at = NULL
)sql";

/// The insert position, and not what is flushed: a commit that is visible lies before it. $1 the
/// slot, $2 and $3 schemas and names of those that are partitions now.
constexpr const char* note_gone_sql = R"sql(
UPDATE walrelay.partition SET gone_at = pg_current_wal_insert_lsn()
 WHERE slot = $1 AND gone_at IS NULL
   AND (leaf_schema, leaf_table) NOT IN (SELECT * FROM unnest($2::text[], $3::text[]))
)sql";

/// $1 the slot, $2 what it has confirmed. A table that is still there stays known for good.
constexpr const char* forget_sql = R"sql(
DELETE FROM walrelay.partition AS p
 WHERE slot = $1 AND gone_at <= $2::pg_lsn AND seen_at < now() - interval '7 days'
   AND NOT EXISTS (SELECT FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
                    WHERE n.nspname = p.leaf_schema AND c.relname = p.leaf_table)
)sql";

/// As for note_gone_sql: a standby cannot write what it sees.
constexpr const char* recall_sql = R"sql(
SELECT root_schema, root_table, leaf_schema, leaf_table,
       coalesce(gone_at, pg_last_wal_replay_lsn(), '0/0')
  FROM walrelay.partition
 WHERE slot = $1
   AND (gone_at IS NOT NULL
        OR (leaf_schema, leaf_table) NOT IN (SELECT * FROM unnest($2::text[], $3::text[])))
 ORDER BY leaf_schema, leaf_table
)sql";

struct leaf_lists {
    std::string root_schemas;
    std::string root_names;
    std::string schemas;
    std::string names;
};

leaf_lists lists_of(const postgres_facts& facts) {
    std::array<std::vector<std::string>, 4> lists;
    for (const auto& table : facts.tables) {
        for (const auto& leaf : table.leaves) {
            lists[0].push_back(table.table.schema);
            lists[1].push_back(table.table.name);
            lists[2].push_back(leaf.schema);
            lists[3].push_back(leaf.name);
        }
    }
    return {array_literal(lists[0]), array_literal(lists[1]), array_literal(lists[2]),
            array_literal(lists[3])};
}

bool is_missing(const server_report& report) {
    return report.sqlstate == "42P01" || report.sqlstate == "3F000";
}

bool was_made_by_another(const server_report& report) {
    return report.sqlstate == "23505" || report.sqlstate == "42P06" || report.sqlstate == "42P07";
}

error explain_memory(const server_report& report, const connection& sql) {
    auto failure = explain(report, {.action = server_action::query, .role = sql.role()});
    if (report.sqlstate == "42501") {
        const auto role = quote_identifier(sql.role());
        failure.what = fmt::format(
            "the role {} may not use the table walrelay.partition, without which wal2json loses "
            "rows of partitions that are detached or dropped before they are read",
            sql.role());
        failure.remedy = fmt::format(
            "as a role that may create a schema: run sql/partition.sql in psql, then: GRANT USAGE "
            "ON SCHEMA walrelay TO {0}; GRANT SELECT, INSERT, UPDATE, DELETE ON walrelay.partition "
            "TO {0};",
            role);
    }
    return failure;
}

awaitable<answer> ask_and_make(connection& sql, const char* statement,
                               std::vector<std::string> parameters) {
    auto again = parameters;
    auto done = co_await sql.ask(statement, std::move(parameters));
    if (done.has_error() && is_missing(done.error())) {
        auto made = co_await sql.ask(partition_sql);
        if (made.has_error() && !was_made_by_another(made.error())) {
            co_return made;
        }
        done = co_await sql.ask(statement, std::move(again));
    }
    co_return done;
}

awaitable<result<void>> write_down(connection& sql, std::string slot, const postgres_facts& facts) {
    const auto lists = lists_of(facts);
    std::vector<std::string> all{slot, lists.root_schemas, lists.root_names, lists.schemas,
                                 lists.names};
    const auto remembered = co_await ask_and_make(sql, remember_sql, std::move(all));
    if (remembered.has_error()) {
        co_return explain_memory(remembered.error(), sql);
    }
    std::vector<std::string> current{slot, lists.schemas, lists.names};
    const auto noted = co_await sql.ask(note_gone_sql, std::move(current));
    if (noted.has_error()) {
        co_return explain_memory(noted.error(), sql);
    }
    if (facts.slot && facts.slot->confirmed) {
        std::vector<std::string> passed{slot, to_string(*facts.slot->confirmed)};
        const auto forgotten = co_await sql.ask(forget_sql, std::move(passed));
        if (forgotten.has_error()) {
            co_return explain_memory(forgotten.error(), sql);
        }
    }
    co_return result<void>{};
}

}  // namespace

std::string_view partition_table_sql() {
    return partition_sql;
}

awaitable<result<void>> create_partition_table(connection& sql) {
    const auto done = co_await sql.ask(partition_sql);
    if (done.has_error()) {
        co_return explain_memory(done.error(), sql);
    }
    co_return result<void>{};
}

awaitable<result<void>> remember_partitions(connection& sql, std::string slot,
                                            postgres_facts& facts) {
    if (!facts.in_recovery) {
        auto written = co_await write_down(sql, slot, facts);
        if (!written) {
            co_return written;
        }
    }
    const auto lists = lists_of(facts);
    std::vector<std::string> current{slot, lists.schemas, lists.names};
    const auto rows = co_await sql.ask(recall_sql, std::move(current));
    if (rows.has_error()) {
        if (facts.in_recovery && is_missing(rows.error())) {
            co_return result<void>{};
        }
        co_return explain_memory(rows.error(), sql);
    }
    fact_reader reader{*rows};
    for (std::size_t row = 0; row < rows->size(); ++row) {
        facts.gone_partitions.push_back({{rows->text(row, 0), rows->text(row, 1)},
                                         {rows->text(row, 2), rows->text(row, 3)},
                                         reader.maybe_lsn(row, 4).value_or(lsn{})});
    }
    if (reader.failure()) {
        co_return *reader.failure();
    }
    co_return result<void>{};
}

}  // namespace walrelay::postgres
