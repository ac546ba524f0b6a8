#include "postgres/catalog/publication_age.hpp"

#include <utility>

namespace walrelay::postgres {
namespace {

using boost::asio::awaitable;

constexpr int version_with_published_schemas = 150000;

constexpr const char* part_ages_sql = R"sql(
SELECT 0, 'publication ' || p.pubname, p.xmin FROM pg_publication AS p WHERE p.pubname = $2
 UNION ALL
SELECT 0, 'publication ' || $2, NULL::xid
 WHERE NOT EXISTS (SELECT FROM pg_publication AS p WHERE p.pubname = $2)
 UNION ALL
SELECT 1, 'table ' || n.nspname || '.' || c.relname, r.xmin
  FROM pg_publication_rel AS r JOIN pg_publication AS p ON p.oid = r.prpubid
  JOIN pg_class AS c ON c.oid = r.prrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace
 WHERE p.pubname = $2 AND r.prrelid IS DISTINCT FROM to_regclass('walrelay.control')
)sql";

constexpr const char* schema_ages_sql = R"sql(
 UNION ALL
SELECT 2, 'schema ' || s.nspname, n.xmin
  FROM pg_publication_namespace AS n JOIN pg_publication AS p ON p.oid = n.pnpubid
  JOIN pg_namespace AS s ON s.oid = n.pnnspid WHERE p.pubname = $2
)sql";

}  // namespace

awaitable<result<std::vector<std::string>>> younger_than_slot(connection& sql, std::string slot,
                                                              std::string publication) {
    std::string parts = part_ages_sql;
    if (sql.version_number() >= version_with_published_schemas) {
        parts += schema_ages_sql;
    }
    std::vector<std::string> parameters{std::move(slot), std::move(publication)};
    const auto rows = co_await sql.query(
        "SELECT part.name FROM (" + parts +
            ") AS part (kind, name, made) LEFT JOIN pg_replication_slots AS s ON s.slot_name = $1 "
            "WHERE NOT coalesce(age(part.made) > age(s.catalog_xmin), false) ORDER BY part.kind, "
            "part.name",
        std::move(parameters));
    if (!rows) {
        co_return rows.error();
    }
    std::vector<std::string> young;
    young.reserve(rows->size());
    for (std::size_t row = 0; row < rows->size(); ++row) {
        young.push_back(rows->text(row, 0));
    }
    co_return young;
}

}  // namespace walrelay::postgres
