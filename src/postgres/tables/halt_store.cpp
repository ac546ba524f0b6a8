#include "postgres/tables/halt_store.hpp"

#include "postgres/catalog/own_tables.hpp"
#include "postgres/session/commit_wait.hpp"

#include <fmt/format.h>

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

// A halt is told from others of its slot by its halted_at, to the microsecond, and a decision is
// tied to its halt by that. Which of two times is later decides nothing: a server's clock steps
// back, and that of a new primary is another one.

/// By way of JSON, as a table of 0.2.0 does not have the columns.
constexpr const char* read_sql = R"sql(
SELECT to_char(halted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"'), reason, fix,
       CASE WHEN decided_halt = halted_at THEN decision
            WHEN resumed_at IS NOT NULL THEN 'look' END,
       to_char(CASE WHEN decided_halt = halted_at THEN decided_at ELSE resumed_at END
                   AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"'),
       to_char(halted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')
  FROM (SELECT h.halted_at, h.reason, h.fix, h.resumed_at, to_jsonb(h) ->> 'decision' AS decision,
               (to_jsonb(h) ->> 'decided_at')::timestamptz AS decided_at,
               (to_jsonb(h) ->> 'decided_halt')::timestamptz AS decided_halt
          FROM walrelay.halt AS h WHERE h.slot = $1) AS kept
)sql";

/// The columns of a decision may not be there; it is about the halt of before, whose time differs.
constexpr const char* store_sql = R"sql(
INSERT INTO walrelay.halt AS known (slot, halted_at, reason, fix)
VALUES ($1, clock_timestamp(), $2, $3)
    ON CONFLICT (slot) DO UPDATE
       SET halted_at = CASE WHEN known.halted_at = excluded.halted_at
                            THEN excluded.halted_at + interval '1 microsecond'
                            ELSE excluded.halted_at END,
           reason = excluded.reason, fix = excluded.fix, resumed_at = NULL
)sql";

/// $1 slot, $2 which halt of it; empty for whichever is there.
constexpr const char* is_that_halt_sql = R"sql(
slot = $1
AND $2 IN ('', to_char(halted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US'))
)sql";

/// resumed_at, which 0.2.0 reads, is set only by who gives rows up: such a relay goes on without
/// them, and refuses the slot in every other case.
constexpr const char* decide_sql = R"sql(
UPDATE walrelay.halt
   SET decision = $3, decided_at = clock_timestamp(), decided_halt = halted_at,
       resumed_at = CASE WHEN $3 = 'give_up' THEN clock_timestamp() END
 WHERE {} RETURNING slot
)sql";

constexpr const char* ask_for_healing_sql = R"sql(
INSERT INTO walrelay.halt AS known
       (slot, reason, fix, halted_at, decision, decided_at, decided_halt)
VALUES ($1, $2, 'start walrelay run', now(), 'heal', now(), now())
    ON CONFLICT (slot) DO UPDATE
       SET decision = 'heal', decided_at = clock_timestamp(), decided_halt = known.halted_at,
           resumed_at = NULL
RETURNING slot
)sql";

constexpr const char* compared_sql = R"sql(
UPDATE walrelay.halt
   SET decision = 'looked', decided_at = clock_timestamp(), decided_halt = halted_at,
       resumed_at = NULL
 WHERE {}
   AND CASE WHEN decided_halt = halted_at THEN decision = 'look' ELSE resumed_at IS NOT NULL END
)sql";

constexpr const char* has_decisions_sql = R"sql(
SELECT FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid
 WHERE c.relname = 'halt' AND c.relnamespace = to_regnamespace('walrelay')
   AND a.attname = 'decided_halt' AND NOT a.attisdropped
)sql";

constexpr const char* forget_sql = "DELETE FROM walrelay.halt WHERE {} RETURNING slot";

/// True where the table is there and can be trusted with a statement, false where it is missing.
awaitable<result<bool>> look_at_table(connection& sql) {
    if (sql.avoids_own_schema()) {
        co_return false;
    }
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

/// Makes the table, or the columns that one of 0.2.0 does not have.
awaitable<result<void>> complete_table(connection& sql, bool there,
                                       std::vector<table_name> outboxes) {
    if (there) {
        const auto whole = co_await sql.query(has_decisions_sql);
        if (!whole) {
            co_return whole.error();
        }
        if (!whole->empty()) {
            co_return result<void>{};
        }
    }
    co_return co_await create_table(sql, own_table::halt, std::move(outboxes));
}

std::optional<halt_decision> decision_of(const std::optional<std::string>& text) {
    for (const auto each : {halt_decision::look, halt_decision::looked, halt_decision::heal,
                            halt_decision::give_up}) {
        if (text && *text == to_string(each)) {
            return each;
        }
    }
    return std::nullopt;
}

}  // namespace

const char* to_string(halt_decision decision) {
    switch (decision) {
        case halt_decision::look:
            return "look";
        case halt_decision::looked:
            return "looked";
        case halt_decision::heal:
            return "heal";
        case halt_decision::give_up:
            break;
    }
    return "give_up";
}

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
    kept_halt found{rows->text(0, 0), rows->text(0, 1), rows->text(0, 2)};
    found.which = rows->text(0, 5);
    found.decision = decision_of(rows->at(0, 3));
    found.decided_at = found.decision ? rows->text(0, 4) : "";
    co_return std::optional(std::move(found));
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

awaitable<result<bool>> decide_halt(connection& sql, std::string slot, std::string which,
                                    halt_decision decision, std::string reason,
                                    std::vector<table_name> outboxes) {
    const bool asks = decision == halt_decision::heal;
    const auto there = co_await look_at_table(sql);
    if (!there) {
        co_return there.error();
    }
    if (!*there && !asks) {
        // Not the result itself: of a result<bool> another one can be made by its operator bool.
        co_return false;
    }
    const auto completed = co_await complete_table(sql, *there, std::move(outboxes));
    if (!completed) {
        co_return completed.error();
    }
    auto statement =
        asks ? std::string(ask_for_healing_sql) : fmt::format(decide_sql, is_that_halt_sql);
    std::vector<std::string> parameters{std::move(slot),
                                        asks ? std::move(reason) : std::move(which)};
    if (!asks) {
        parameters.emplace_back(to_string(decision));
    }
    const auto done = co_await sql.ask(std::move(statement), std::move(parameters));
    if (done.has_error()) {
        co_return explain_use(done.error(), sql, own_table::halt);
    }
    co_return !done->empty();
}

awaitable<result<void>> note_comparison(connection& sql, std::string slot, std::string which) {
    const auto completed = co_await complete_table(sql, true, {});
    if (!completed) {
        co_return completed.error();
    }
    std::vector<std::string> parameters{std::move(slot), std::move(which)};
    auto statement = fmt::format(compared_sql, is_that_halt_sql);
    const auto done = co_await sql.ask(std::move(statement), std::move(parameters));
    if (done.has_error()) {
        co_return explain_use(done.error(), sql, own_table::halt);
    }
    co_return result<void>{};
}

awaitable<result<bool>> forget_halt(connection& sql, std::string slot, std::string which) {
    std::vector<std::string> parameters{std::move(slot), std::move(which)};
    auto statement = fmt::format(forget_sql, is_that_halt_sql);
    const auto done = co_await sql.ask(std::move(statement), std::move(parameters));
    if (done.has_error()) {
        if (is_missing(done.error())) {
            co_return false;
        }
        co_return explain_use(done.error(), sql, own_table::halt);
    }
    co_return !done->empty();
}

}  // namespace walrelay::postgres
