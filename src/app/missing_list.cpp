#include "app/missing_list.hpp"

#include "core/json_string.hpp"
#include "core/one_line.hpp"
#include "core/progress.hpp"
#include "postgres/tables/slot_start.hpp"
#include "servers/postgres_access.hpp"
#include "servers/translate.hpp"
#include "tasks/verify/verification.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace walrelay::app {
namespace {

using boost::asio::awaitable;

constexpr std::size_t named_max = 20;

awaitable<result<bool>> knows_start(servers::executors on, const config::settings& settings) {
    auto sql = co_await servers::open_sql(on.loop, settings);
    if (!sql) {
        co_return sql.error();
    }
    auto slot = settings.postgres.slot;
    const auto start = co_await postgres::read_slot_start(*sql, std::move(slot));
    if (!start) {
        co_return start.error();
    }
    co_return start->has_value();
}

}  // namespace

awaitable<result<missing_list>> look_for_missing(servers::executors on,
                                                 const config::settings& settings,
                                                 missing_scope scope) {
    const auto known = co_await knows_start(on, settings);
    if (!known) {
        co_return known.error();
    }
    if (!*known && scope == missing_scope::since_slot) {
        co_return missing_list{.start_unknown = true};
    }
    const auto compared = servers::with_tables_only(settings);
    tasks::verify_options options;
    options.since_slot = *known;
    options.excuses_removed = true;
    options.named_limit =
        scope == missing_scope::all ? std::numeric_limits<std::uint32_t>::max() : named_max;
    tasks::verification steps(on, compared, options);
    const auto done = co_await steps.run();
    if (!done) {
        co_return done.error();
    }
    if (done->slot_not_read) {
        co_return *done->slot_not_read;
    }
    const auto& found = done->report.of(audit::finding_kind::missing);
    missing_list missing{.count = found.count};
    missing.removed_rows = done->report.removed_rows;
    missing.removed_messages = done->removed_messages;
    missing.replaced_messages = done->replaced_messages;
    for (const auto& each : found.named) {
        missing.rows.push_back({each.table, each.id, each.message_id, each.rows});
    }
    co_return missing;
}

std::vector<postgres::row_left_out> rows_of(const missing_list& missing,
                                            const config::settings& settings, wall_time at) {
    std::vector<postgres::row_left_out> rows;
    for (const auto& each : missing.rows) {
        const auto table = std::ranges::find_if(settings.outbox, [&](const outbox_table& one) {
            return to_string(one.table) == each.table;
        });
        if (table != settings.outbox.end()) {
            rows.insert(rows.end(), each.count, {table->table, each.message_id, at});
        }
    }
    return rows;
}

namespace {

std::string counted_missing(const missing_list& missing) {
    const bool is_one = missing.count == 1;
    return fmt::format(
        "{} {} in neither the stream nor the dead letters, and the slot does not bring {}",
        counted(missing.count, "row"), is_one ? "is" : "are", is_one ? "it" : "them");
}

std::string named(const missing_row& row) {
    return row.id.empty() ? fmt::format("table {}, {} without a message id", one_line(row.table),
                                        counted(row.count, "row"))
                          : fmt::format("table {}, id {}", one_line(row.table), one_line(row.id));
}

std::uint64_t count_of_first(const missing_list& missing, std::size_t many) {
    std::uint64_t count = 0;
    for (std::size_t index = 0; index < many; ++index) {
        count += missing.rows[index].count;
    }
    return count;
}

}  // namespace

std::string text_of_removed(const missing_list& missing) {
    if (missing.removed_rows == 0) {
        return "";
    }
    const bool is_one = missing.removed_rows == 1;
    const bool are_replaced = missing.replaced_messages > 0;
    const auto messages = missing.removed_messages + missing.replaced_messages;
    return fmt::format(
        "{} in no message {} not counted: {} older than what the stream holds{}, and {} gone from "
        "{} by its limits or a purge",
        counted(missing.removed_rows, "row"), is_one ? "is" : "are", is_one ? "it is" : "they are",
        are_replaced ? ", or known to have been stored" : "",
        counted(messages, "message") + (messages == 1 ? " is" : " are"),
        are_replaced ? "the stream" : "the stream's beginning");
}

std::string short_text_of(const missing_list& missing) {
    constexpr std::size_t few = 5;
    auto text = counted_missing(missing) + " (";
    const auto count = std::min(missing.rows.size(), few);
    for (std::size_t index = 0; index < count; ++index) {
        text += (index == 0 ? "" : "; ") + named(missing.rows[index]);
    }
    text += missing.count > count_of_first(missing, count) ? "; ...)" : ")";
    const auto removed = text_of_removed(missing);
    return removed.empty() ? text : text + "; " + removed;
}

std::string text_of(const missing_list& missing) {
    const auto removed = text_of_removed(missing);
    const auto rest = removed.empty() ? std::string() : removed + ".\n";
    if (missing.count == 0) {
        return "No row is missing.\n" + rest;
    }
    auto text = counted_missing(missing) + ":\n";
    const auto count = std::min(missing.rows.size(), named_max);
    for (std::size_t index = 0; index < count; ++index) {
        text += "  " + named(missing.rows[index]) + "\n";
    }
    if (const auto shown = count_of_first(missing, count); missing.count > shown) {
        text += fmt::format("  ... and {} more\n", missing.count - shown);
    }
    return text + rest;
}

std::string json_of(const missing_list& missing) {
    std::string named;
    for (std::size_t index = 0; index < std::min(missing.rows.size(), named_max); ++index) {
        const auto& each = missing.rows[index];
        named += fmt::format(R"({}{{"table":{},"id":{}}})", index == 0 ? "" : ",",
                             json_string(each.table), json_string(each.id));
    }
    return fmt::format(R"({{"count":{},"named":[{}],"removed":{}}})", missing.count, named,
                       missing.removed_rows);
}

}  // namespace walrelay::app
