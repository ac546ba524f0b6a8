#include "postgres/catalog/creation_probe.hpp"

#include "core/sql_text.hpp"
#include "postgres/catalog/own_tables.hpp"
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

/// Not of the role or of what is asked for, and no moment's trouble either.
bool is_state_of_server(const server_report& report) {
    return outlook_for(report.sqlstate) == outlook::waits;
}

error cannot_make_now(const server_report& report) {
    const error failure{errc::postgres_lost, "the tables of the schema walrelay cannot be made now",
                        "see what PostgreSQL says, and its log", words_of(report)};
    return with_state_behind(failure, report);
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
    if (made.has_error() && is_state_of_server(made.error())) {
        facts.making_waits = cannot_make_now(made.error());
    }
    co_return result<void>{};
}

awaitable<result<void>> probe_publication(connection& sql, std::string publication,
                                          std::vector<table_name> tables, postgres_facts& facts) {
    const bool one_is_missing = std::ranges::any_of(facts.tables, [&](const table_facts& each) {
        return !each.exists && std::ranges::find(tables, each.table) != tables.end();
    });
    if (facts.publication || facts.slot || tables.empty() || one_is_missing) {
        co_return result<void>{};
    }
    auto step = co_await begin(sql);
    if (!step) {
        co_return step;
    }
    auto statement = create_publication_sql(publication, tables, "insert");
    const auto tried = co_await sql.ask(std::move(statement));
    step = co_await roll_back(sql);
    if (!step || !tried.has_error()) {
        co_return step;
    }
    auto why = explain(tried.error(), {.action = server_action::create_publication,
                                       .role = sql.role(),
                                       .database = sql.database(),
                                       .publication = std::move(publication)});
    if (why.code == errc::postgres_unsuitable) {
        facts.publication_refused = std::move(why);
    } else if (is_state_of_server(tried.error())) {
        facts.publication_waits = std::move(why);
    }
    co_return result<void>{};
}

}  // namespace walrelay::postgres
