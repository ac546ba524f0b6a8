#include "postgres/catalog/taken_tables.hpp"

#include "postgres/catalog/own_tables.hpp"
#include "postgres/session/array_literal.hpp"
#include "postgres/session/sqlstate.hpp"

#include <utility>

namespace walrelay::postgres {
namespace {

/// $1 the slot, $2 schemas and $3 names of the outboxes. Superusers, this role and the owner of the
/// database could write into any of them. Of another system the oids say nothing.
constexpr const char* taken_tables_sql = R"sql(
SELECT n.nspname::text, c.relname::text, pg_get_userbyid(c.relowner)::text,
       pg_get_userbyid(was.role)::text
  FROM walrelay.witness AS known
 CROSS JOIN unnest($2::text[], $3::text[]) AS outbox (schema, name)
  JOIN pg_namespace AS n ON n.nspname = outbox.schema
  JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = outbox.name
 CROSS JOIN LATERAL (SELECT (known.owners ->> (n.nspname || '.' || c.relname))::oid) AS was (role)
  JOIN pg_roles AS now ON now.oid = c.relowner
 WHERE known.slot = $1 AND known.system_identifier = $4::numeric AND was.role <> c.relowner
   AND NOT now.rolsuper AND now.rolname <> current_user
   AND now.oid <> (SELECT datdba FROM pg_database WHERE datname = current_database())
   AND NOT EXISTS (SELECT FROM pg_roles AS r
                    WHERE r.oid = was.role AND pg_has_role(c.relowner, r.oid, 'MEMBER'))
)sql";

}  // namespace

boost::asio::awaitable<result<std::vector<taken_table>>> find_taken_tables(
    connection& sql, std::string slot, std::vector<table_name> outboxes,
    std::uint64_t system_identifier) {
    auto [schemas, names] = arrays_of(outboxes);
    std::vector<std::string> values{std::move(slot), std::move(schemas), std::move(names),
                                    std::to_string(system_identifier)};
    const auto rows = co_await sql.ask(taken_tables_sql, std::move(values));
    std::vector<taken_table> taken;
    if (rows.has_error()) {
        const bool is_unknown = is_missing(rows.error()) ||
                                rows.error().sqlstate == sqlstate::undefined_column ||
                                rows.error().sqlstate == sqlstate::insufficient_privilege;
        if (is_unknown) {
            co_return taken;
        }
        co_return explain_use(rows.error(), sql, own_table::witness);
    }
    for (std::size_t row = 0; row < rows->size(); ++row) {
        taken.push_back(
            {{rows->text(row, 0), rows->text(row, 1)}, rows->text(row, 2), rows->text(row, 3)});
    }
    co_return taken;
}

}  // namespace walrelay::postgres
