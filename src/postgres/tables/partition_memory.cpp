#include "postgres/tables/partition_memory.hpp"

#include "postgres/catalog/own_tables.hpp"
#include "postgres/session/array_literal.hpp"
#include "postgres/session/fact_reader.hpp"

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
constexpr const char* forget_partitions_sql = R"sql(
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

awaitable<result<void>> remember(connection& sql, const std::string& slot, const leaf_lists& lists,
                                 const std::vector<table_name>& roots) {
    std::vector<std::string> all{slot, lists.root_schemas, lists.root_names, lists.schemas,
                                 lists.names};
    auto done = co_await sql.ask(remember_sql, all);
    if (done.has_error() && is_missing(done.error())) {
        auto made = co_await create_table(sql, own_table::partition, roots);
        if (!made) {
            co_return made;
        }
        done = co_await sql.ask(remember_sql, std::move(all));
    }
    if (done.has_error()) {
        co_return explain_use(done.error(), sql, own_table::partition);
    }
    co_return result<void>{};
}

awaitable<result<void>> write_down(connection& sql, std::string slot, const postgres_facts& facts) {
    const auto lists = lists_of(facts);
    std::vector<table_name> roots;
    roots.reserve(facts.tables.size());
    for (const auto& table : facts.tables) {
        roots.push_back(table.table);
    }
    const auto remembered = co_await remember(sql, slot, lists, roots);
    if (!remembered) {
        co_return remembered.error();
    }
    std::vector<std::string> current{slot, lists.schemas, lists.names};
    const auto noted = co_await sql.ask(note_gone_sql, std::move(current));
    if (noted.has_error()) {
        co_return explain_use(noted.error(), sql, own_table::partition);
    }
    if (facts.slot && facts.slot->confirmed) {
        std::vector<std::string> passed{slot, to_string(*facts.slot->confirmed)};
        const auto forgotten = co_await sql.ask(forget_partitions_sql, std::move(passed));
        if (forgotten.has_error()) {
            co_return explain_use(forgotten.error(), sql, own_table::partition);
        }
    }
    co_return result<void>{};
}

}  // namespace

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
        co_return explain_use(rows.error(), sql, own_table::partition);
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
