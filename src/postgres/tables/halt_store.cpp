#include "postgres/tables/halt_store.hpp"

#include "postgres/catalog/own_tables.hpp"
#include "postgres/session/commit_wait.hpp"

#include <utility>

namespace walrelay::postgres {
namespace {

using boost::asio::awaitable;

/// A view, or policies, would run what somebody else wrote with walrelay's rights.
constexpr const char* look_sql = R"sql(
SELECT relkind = 'r' AND NOT relrowsecurity AND NOT relhasrules
  FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
 WHERE n.nspname = 'walrelay' AND c.relname = 'halt'
)sql";

constexpr const char* read_sql = R"sql(
SELECT to_char(halted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"'), reason, fix,
       to_char(resumed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"')
  FROM walrelay.halt WHERE slot = $1
)sql";

constexpr const char* store_sql = R"sql(
INSERT INTO walrelay.halt (slot, reason, fix) VALUES ($1, $2, $3)
    ON CONFLICT (slot) DO UPDATE
       SET halted_at = now(), reason = excluded.reason, fix = excluded.fix, resumed_at = NULL
)sql";

constexpr const char* resume_sql =
    "UPDATE walrelay.halt SET resumed_at = coalesce(resumed_at, now()) WHERE slot = $1 "
    "RETURNING slot";

constexpr const char* forget_sql = "DELETE FROM walrelay.halt WHERE slot = $1";

/// True where the table is there and can be trusted with a statement, false where it is missing.
awaitable<result<bool>> look_at_table(connection& sql) {
    const auto found = co_await sql.query(look_sql);
    if (!found) {
        co_return found.error();
    }
    if (!found->empty() && !found->flag(0, 0)) {
        co_return error{errc::postgres_unsuitable,
                        "walrelay.halt is not an ordinary table without rules and policies",
                        "ALTER TABLE walrelay.halt RENAME TO halt_before; then: walrelay init"};
    }
    co_return !found->empty();
}

}  // namespace

awaitable<result<std::optional<kept_halt>>> read_halt(connection& sql, std::string slot) {
    const auto there = co_await look_at_table(sql);
    if (!there) {
        co_return there.error();
    }
    if (!*there) {
        co_return std::optional<kept_halt>{};
    }
    std::vector<std::string> parameters{std::move(slot)};
    const auto rows = co_await sql.ask(read_sql, std::move(parameters));
    if (rows.has_error()) {
        co_return explain_use(rows.error(), sql, own_table::halt);
    }
    if (rows->empty()) {
        co_return std::optional<kept_halt>{};
    }
    co_return std::optional(
        kept_halt{rows->text(0, 0), rows->text(0, 1), rows->text(0, 2), rows->at(0, 3)});
}

awaitable<result<void>> store_halt(connection& sql, std::string slot, std::string reason,
                                   std::string fix, std::vector<table_name> outboxes) {
    for (const auto* const each : {wait_for_flush_sql, wait_for_others_sql}) {
        const auto set = co_await sql.query(each);
        if (!set) {
            co_return set.error();
        }
    }
    const auto there = co_await look_at_table(sql);
    if (!there) {
        co_return there.error();
    }
    if (!*there) {
        const auto made = co_await create_table(sql, own_table::halt, std::move(outboxes));
        if (!made) {
            co_return made.error();
        }
    }
    std::vector<std::string> parameters{std::move(slot), std::move(reason), std::move(fix)};
    const auto done = co_await sql.ask(store_sql, std::move(parameters));
    if (done.has_error()) {
        co_return explain_use(done.error(), sql, own_table::halt);
    }
    co_return result<void>{};
}

awaitable<result<bool>> resume_halt(connection& sql, std::string slot) {
    const auto there = co_await look_at_table(sql);
    if (!there) {
        co_return there.error();
    }
    if (!*there) {
        // Not the result itself: of a result<bool> another one can be made by its operator bool.
        co_return false;
    }
    std::vector<std::string> parameters{std::move(slot)};
    const auto done = co_await sql.ask(resume_sql, std::move(parameters));
    if (done.has_error()) {
        co_return explain_use(done.error(), sql, own_table::halt);
    }
    co_return !done->empty();
}

awaitable<result<void>> forget_halt(connection& sql, std::string slot) {
    std::vector<std::string> parameters{std::move(slot)};
    const auto done = co_await sql.ask(forget_sql, std::move(parameters));
    if (done.has_error() && !is_missing(done.error())) {
        co_return explain_use(done.error(), sql, own_table::halt);
    }
    co_return result<void>{};
}

}  // namespace walrelay::postgres
