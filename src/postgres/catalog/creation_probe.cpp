#include "postgres/catalog/creation_probe.hpp"

#include "postgres/catalog/own_tables.hpp"
#include "postgres/catalog/provisioner.hpp"
#include "postgres/session/refusal.hpp"
#include "postgres/session/server_error.hpp"
#include "postgres/session/sqlstate.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace walrelay::postgres {
namespace {

using boost::asio::awaitable;

awaitable<result<void>> begin(connection& sql) {
    for (const auto* const step : {"BEGIN", "SET LOCAL lock_timeout = '2s'"}) {
        const auto done = co_await sql.query(step);
        if (!done) {
            co_return done.error();
        }
    }
    co_return result<void>{};
}

awaitable<result<void>> roll_back(connection& sql) {
    const auto done = co_await sql.query("ROLLBACK");
    co_return done ? result<void>{} : done.error();
}

/// Somebody else has just made it.
bool is_there_meanwhile(std::string_view sqlstate) {
    return sqlstate == sqlstate::unique_violation || sqlstate == sqlstate::duplicate_schema ||
           sqlstate == sqlstate::duplicate_table || sqlstate == sqlstate::duplicate_object;
}

}  // namespace

awaitable<result<void>> probe_tables(connection& sql, postgres_facts& facts) {
    if (facts.controls.exists || !facts.may_make_tables || facts.in_recovery ||
        !facts.schema_flaws.empty() || sql.avoids_own_schema()) {
        co_return result<void>{};
    }
    auto step = co_await begin(sql);
    if (!step) {
        co_return step;
    }
    const auto made = co_await sql.ask(std::string(create_table_sql(own_table::control)));
    step = co_await roll_back(sql);
    if (!step) {
        co_return step;
    }
    if (made.has_error() && comes_back(made.error().sqlstate) &&
        !is_there_meanwhile(made.error().sqlstate)) {
        facts.may_make_tables = false;
        facts.making_refused = words_of(made.error());
    }
    co_return result<void>{};
}

awaitable<result<void>> probe_publication(connection& sql, std::string publication,
                                          std::vector<table_name> tables, postgres_facts& facts) {
    const bool one_is_missing = std::ranges::any_of(facts.tables, [&](const table_facts& each) {
        return !each.exists && std::ranges::find(tables, each.table) != tables.end();
    });
    if (facts.publication || tables.empty() || one_is_missing || facts.in_recovery) {
        co_return result<void>{};
    }
    auto step = co_await begin(sql);
    if (!step) {
        co_return step;
    }
    const auto tried =
        co_await create_publication(sql, std::move(publication), std::move(tables), "insert");
    step = co_await roll_back(sql);
    if (!step) {
        co_return step;
    }
    if (tried.has_error() && tried.error().code == errc::postgres_unsuitable) {
        facts.publication_refused = tried.error();
    }
    co_return result<void>{};
}

}  // namespace walrelay::postgres
