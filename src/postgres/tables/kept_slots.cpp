#include "postgres/tables/kept_slots.hpp"

#include "core/sql_text.hpp"
#include "postgres/catalog/own_tables.hpp"
#include "postgres/session/commit_wait.hpp"
#include "postgres/session/fact_reader.hpp"
#include "postgres/session/sqlstate.hpp"

#include <fmt/format.h>

#include <utility>

namespace walrelay::postgres {
namespace {

using boost::asio::awaitable;

/// The row of a trail can be there: without its slot, which is made again.
constexpr const char* register_slot_sql = R"sql(
INSERT INTO walrelay.bookmark AS b (kept_slot, slot, name, comment, expires_at)
VALUES ($1, $2, $3, nullif($4, ''), clock_timestamp() + $5::bigint * interval '1 millisecond')
    ON CONFLICT (kept_slot) DO UPDATE SET position = NULL, made_at = clock_timestamp()
     WHERE b.name IS NULL AND b.slot = excluded.slot
 RETURNING kept_slot
)sql";

constexpr const char* is_slot_there_sql =
    "SELECT FROM pg_replication_slots WHERE slot_name::text = $1";

constexpr const char* copy_slot_sql =
    "SELECT lsn FROM pg_copy_logical_replication_slot($1, $2, false)";

constexpr const char* complete_register_sql =
    "UPDATE walrelay.bookmark SET position = $2::pg_lsn, made_at = clock_timestamp() "
    "WHERE kept_slot = $1 RETURNING kept_slot";

constexpr const char* forget_slot_sql = "DELETE FROM walrelay.bookmark WHERE kept_slot = $1";

/// $2 is the slot that it is a copy of: a row of walrelay.bookmark alone is no proof.
constexpr const char* drop_if_there_sql =
    "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots "
    "WHERE slot_name::text = $1 AND slot_type = 'logical' AND database = current_database() "
    "AND (slot_name::text = $2 || '_trail' OR starts_with(slot_name::text, $2 || '_at_'))";

constexpr const char* is_held_sql =
    "SELECT FROM pg_replication_slots WHERE slot_name::text = $1 AND active_pid = $2::int4";

constexpr const char* advance_slot_sql =
    "SELECT end_lsn FROM pg_replication_slot_advance($1, $2::pg_lsn)";

error explain_slot(const server_report& report, const connection& sql, const std::string& slot,
                   server_action action) {
    if (report.sqlstate == sqlstate::object_in_use) {
        return {errc::slot_in_use,
                fmt::format("slot {} is in use, by a replay that reads from it perhaps", slot),
                "wait until the session that uses it has ended: SELECT active_pid FROM "
                "pg_replication_slots WHERE slot_name = " +
                    quote_literal(slot) + ";",
                words_of(report)};
    }
    server_context context;
    context.action = action;
    context.role = sql.role();
    context.database = sql.database();
    context.slot = slot;
    context.version_number = sql.version_number();
    return explain(report, context);
}

error is_there_already(const kept_slot_wish& wanted, const char* what) {
    const auto name = wanted.name.value_or("");
    return {errc::configuration_invalid,
            fmt::format("there is a {} {} already", what,
                        what == std::string_view("slot") ? wanted.kept_slot : name),
            "choose another name; walrelay bookmark list shows those that are taken"};
}

class kept_slot_maker {
public:
    kept_slot_maker(connection& sql, kept_slot_wish wanted)
        : sql_(sql), wanted_(std::move(wanted)) {}

    awaitable<result<lsn>> run();

private:
    awaitable<result<void>> require_free_name();
    awaitable<result<void>> enter();
    awaitable<result<lsn>> copy();

    connection& sql_;
    kept_slot_wish wanted_;
};

awaitable<result<void>> kept_slot_maker::require_free_name() {
    std::vector<std::string> which{wanted_.kept_slot};
    const auto there = co_await sql_.query(is_slot_there_sql, std::move(which));
    if (!there) {
        co_return there.error();
    }
    co_return there->empty() ? result<void>{} : is_there_already(wanted_, "slot");
}

awaitable<result<void>> kept_slot_maker::enter() {
    std::vector<std::optional<std::string>> values{wanted_.kept_slot, wanted_.slot, wanted_.name,
                                                   wanted_.comment, std::nullopt};
    if (wanted_.expires_after) {
        values.back() = std::to_string(wanted_.expires_after->count());
    }
    std::vector<statement> all{{register_slot_sql, std::move(values)}};
    const auto entered = co_await sql_.ask_together(std::move(all));
    if (entered.has_error()) {
        co_return explain_use(entered.error(), sql_, own_table::bookmark);
    }
    co_return entered->empty() ? is_there_already(wanted_, "bookmark") : result<void>{};
}

awaitable<result<lsn>> kept_slot_maker::copy() {
    std::vector<std::string> names{wanted_.slot, wanted_.kept_slot};
    const auto made = co_await sql_.ask(copy_slot_sql, std::move(names));
    if (made.has_error()) {
        co_return explain_slot(made.error(), sql_, wanted_.slot, server_action::create_slot);
    }
    fact_reader reader{*made};
    const auto at = reader.maybe_lsn(0, 0).value_or(lsn{});
    co_return reader.failure() ? result<lsn>(*reader.failure()) : result<lsn>(at);
}

awaitable<result<lsn>> kept_slot_maker::run() {
    auto step = co_await require_free_name();
    if (step) {
        step = co_await enter();
    }
    if (!step) {
        co_return step.error();
    }
    const auto at = co_await copy();
    if (!at) {
        std::vector<std::string> which{wanted_.kept_slot};
        static_cast<void>(co_await sql_.ask(forget_slot_sql, std::move(which)));
        co_return at.error();
    }
    std::vector<std::string> values{wanted_.kept_slot, to_string(*at)};
    const auto completed = co_await sql_.ask(complete_register_sql, std::move(values));
    if (completed.has_error()) {
        co_return explain_use(completed.error(), sql_, own_table::bookmark);
    }
    if (completed->empty()) {
        // Without its row nobody would ever drop it.
        auto kept = wanted_.kept_slot;
        auto slot = wanted_.slot;
        const auto dropped = co_await drop_kept_slot(sql_, std::move(kept), std::move(slot));
        co_return dropped
            ? error{errc::postgres_unsuitable, "the position had expired before it was kept",
                    "give a longer --expires"}
            : dropped.error();
    }
    co_return *at;
}

}  // namespace

awaitable<result<void>> make_kept_tables(connection& sql, std::vector<table_name> outboxes) {
    for (const auto each : {own_table::bookmark, own_table::trail}) {
        const auto there = co_await has_table(sql, each);
        if (!there) {
            co_return there.error();
        }
        if (!*there) {
            auto made = co_await create_table(sql, each, outboxes);
            if (!made) {
                co_return made.error();
            }
        }
    }
    co_return result<void>{};
}

awaitable<result<void>> require_holder(connection& sql, std::string slot, int holder) {
    std::vector<std::string> values{slot, std::to_string(holder)};
    const auto held = co_await sql.query(is_held_sql, std::move(values));
    if (!held) {
        co_return held.error();
    }
    co_return held->empty()
        ? error{errc::slot_in_use, "this relay does not hold slot " + slot +
                                       " any more: whoever does looks after its kept positions"}
        : result<void>{};
}

awaitable<result<lsn>> make_kept_slot(connection& sql, kept_slot_wish wanted) {
    // A row that a crash of the server takes back would leave a slot that nobody knows.
    for (const auto* const each : {wait_for_flush_sql, wait_for_others_sql}) {
        const auto set = co_await sql.query(each);
        if (!set) {
            co_return set.error();
        }
    }
    kept_slot_maker maker(sql, std::move(wanted));
    co_return co_await maker.run();
}

awaitable<result<void>> move_kept_slot(connection& sql, std::string kept_slot, lsn to) {
    std::vector<std::string> values{kept_slot, to_string(to)};
    const auto moved = co_await sql.ask(advance_slot_sql, std::move(values));
    if (moved.has_error()) {
        co_return explain_slot(moved.error(), sql, kept_slot, server_action::query);
    }
    co_return result<void>{};
}

awaitable<result<void>> drop_kept_slot(connection& sql, std::string kept_slot, std::string slot) {
    std::vector<std::string> which{kept_slot};
    std::vector<std::string> names{kept_slot, std::move(slot)};
    const auto dropped = co_await sql.ask(drop_if_there_sql, std::move(names));
    if (dropped.has_error()) {
        co_return explain_slot(dropped.error(), sql, kept_slot, server_action::query);
    }
    const auto forgotten = co_await sql.ask(forget_slot_sql, std::move(which));
    if (forgotten.has_error() && !is_missing(forgotten.error())) {
        co_return explain_use(forgotten.error(), sql, own_table::bookmark);
    }
    co_return result<void>{};
}

awaitable<result<void>> let_kept_slot_fail_over(connection& replication, std::string kept_slot) {
    const auto set = co_await replication.ask(set_failover_sql(kept_slot, true));
    if (set.has_error()) {
        co_return explain_slot(set.error(), replication, kept_slot, server_action::query);
    }
    co_return result<void>{};
}

}  // namespace walrelay::postgres
