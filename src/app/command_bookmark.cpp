#include "app/commands.hpp"
#include "app/exit_code.hpp"
#include "app/fail.hpp"
#include "app/text_table.hpp"
#include "core/figures.hpp"
#include "core/one_line.hpp"
#include "core/sql_text.hpp"
#include "http/status_json.hpp"
#include "postgres/tables/kept_positions.hpp"
#include "postgres/tables/kept_slots.hpp"
#include "relay/keep/bookmark_check.hpp"
#include "servers/postgres_access.hpp"
#include "servers/run_to_end.hpp"
#include "servers/translate.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

namespace walrelay::app {
namespace {

using boost::asio::awaitable;

std::string show_moment(const std::optional<wall_time>& at, const char* none) {
    using clock = std::chrono::system_clock;
    if (!at) {
        return none;
    }
    const auto time = clock::to_time_t(std::chrono::time_point_cast<clock::duration>(*at));
    return fmt::format("{:%Y-%m-%d %H:%M:%S}Z", fmt::gmtime(time));
}

std::string show_status_of(const kept_position& one) {
    std::string status = to_string(one.state);
    if (!one.lost_for.empty()) {
        status += ": " + one.lost_for;
    }
    if (one.made_at_lsn) {
        return status + ", but not where it was made: " + to_string(*one.made_at_lsn);
    }
    return one.is_ours ? status : status + ", made by hand";
}

/// An option of a name that nobody has: the exit code of a usage error, like one that is malformed.
int fail_as(const error& why) {
    return why.code == errc::configuration_invalid ? (fail(why), exit_usage) : fail(why);
}

postgres::row_set table_of_positions(const kept_positions& found) {
    std::vector<std::vector<postgres::cell>> rows;
    rows.reserve(found.all.size());
    for (const auto& each : found.all) {
        const auto age = each.covers_from ? each.covers_from : each.made_at;
        const auto seconds =
            age ? std::chrono::duration<double>(found.read_at - *age).count() : 0.0;
        const bool holds = each.state == kept_state::kept;
        rows.push_back(
            {each.kind == kept_kind::trail ? "(trail)" : one_line(each.name),
             each.confirmed ? to_string(*each.confirmed) : "", age ? show_seconds(seconds) : "?",
             holds ? show_bytes(static_cast<double>(each.held_bytes)) : "",
             holds ? std::to_string(each.catalog_age_transactions) : "", show_status_of(each),
             each.kind == kept_kind::trail || !each.is_ours ? ""
                                                            : show_moment(each.expires_at, "never"),
             one_line(each.comment)});
    }
    return {
        {"NAME", "POSITION", "AGE", "HOLDS (WAL)", "CATALOG AGE", "STATUS", "EXPIRES", "COMMENT"},
        std::move(rows)};
}

void print_positions_json(const kept_positions& found) {
    http::json_writer to;
    to.open_object().number("held_bytes", held_bytes_of(found));
    to.number("slots_free", found.slots_free).open_array("positions");
    for (const auto& each : found.all) {
        to.open_object();
        write_kept_position(to, each);
        to.text("comment", each.comment).close_object();
    }
    fmt::print("{}\n", to.close_array().close_object().take());
}

int list_positions(const kept_positions& found, bool json) {
    if (json) {
        print_positions_json(found);
    } else if (found.all.empty()) {
        fmt::print("no positions are kept; walrelay bookmark create NAME keeps one\n");
    } else {
        fmt::print("{}", text_table(table_of_positions(found)));
        fmt::print("together they hold {} of WAL\n",
                   show_bytes(static_cast<double>(held_bytes_of(found))));
    }
    return exit_done;
}

void print_made(const config::settings& settings, const kept_position& made,
                const kept_positions& found) {
    fmt::print("made bookmark {} at LSN {} (slot {})\n", made.name,
               made.confirmed ? to_string(*made.confirmed) : "?", made.slot);
    fmt::print("  holds    {} of WAL now, and all that is written until it is dropped\n",
               show_bytes(static_cast<double>(made.held_bytes)));
    fmt::print(
        "  catalog  VACUUM keeps rows of system catalogs of the last {} transactions, and "
        "of all that follow\n",
        made.catalog_age_transactions);
    fmt::print("  slots    {} of max_replication_slots are still free\n", found.slots_free);
    fmt::print("  expires  {}; walrelay run drops it then\n",
               show_moment(made.expires_at, "never"));
    fmt::print(
        "  limit    walrelay run drops it earlier where it holds more than {} "
        "(replay.max_wal)\n",
        show_bytes(static_cast<double>(settings.replay.max_wal.bytes)));
}

awaitable<result<void>> make_bookmark(servers::executors on, postgres::connection& sql,
                                      const config::settings& settings,
                                      const bookmark_request& request, bool failover) {
    auto outboxes = servers::published_tables_of(settings);
    const auto tables = co_await postgres::make_kept_tables(sql, std::move(outboxes));
    if (!tables) {
        co_return tables.error();
    }
    postgres::kept_slot_wish wanted{settings.postgres.slot,
                                    bookmark_slot_name(settings.postgres.slot, request.name),
                                    request.name, request.comment, request.expires_after};
    const auto slot = wanted.kept_slot;
    const auto made = co_await postgres::make_kept_slot(sql, std::move(wanted));
    if (!made) {
        co_return made.error();
    }
    if (failover) {
        auto replication = co_await servers::open_replication(on.loop, settings);
        result<void> set{};
        if (replication) {
            set = co_await postgres::let_kept_slot_fail_over(*replication, slot);
        } else {
            set = replication.error();
        }
        if (!set) {
            auto why = set.error();
            why.what = "the bookmark is made, and standbys do not keep it yet: " + why.what;
            why.remedy = "walrelay run sees to it as well; until then a failover loses it";
            co_return why;
        }
    }
    co_return result<void>{};
}

awaitable<int> create_bookmark(servers::executors on, postgres::connection& sql,
                               const config::settings& settings, const bookmark_request& request,
                               const kept_positions& before) {
    const relay::bookmark_wish wanted{settings.postgres.slot, request.name, request.expires_after,
                                      request.insists};
    if (const auto trouble = relay::trouble_with_bookmark(wanted, before)) {
        co_return fail_as(*trouble);
    }
    const auto made = co_await make_bookmark(on, sql, settings, request, before.source->failover);
    const auto after = co_await postgres::read_kept_positions(sql, settings.postgres.slot);
    const auto* const bookmark = after ? find_bookmark(*after, request.name) : nullptr;
    if (bookmark != nullptr && bookmark->is_ours && bookmark->state == kept_state::kept) {
        print_made(settings, *bookmark, *after);
    }
    if (!made) {
        co_return fail_as(made.error());
    }
    co_return exit_done;
}

awaitable<int> drop_bookmark(postgres::connection& sql, const config::settings& settings,
                             const kept_positions& found, const std::string& name) {
    const auto* const bookmark = find_bookmark(found, name);
    if (bookmark == nullptr) {
        fmt::print(stderr, "there is no bookmark {}; walrelay bookmark list shows all\n",
                   one_line(name));
        co_return exit_findings;
    }
    if (!bookmark->is_ours) {
        co_return fail({errc::configuration_invalid,
                        "slot " + bookmark->slot +
                            " was not made by walrelay bookmark create, and is left alone",
                        "if it is yours and not needed: " + drop_slot_sql(bookmark->slot)});
    }
    for (const auto& each : found.replays) {
        if (each.kept_slot == bookmark->slot) {
            co_return fail({errc::slot_in_use,
                            fmt::format("replay {}, which is not finished, reads from bookmark {}",
                                        each.number, bookmark->name),
                            fmt::format("walrelay replay resume {0} goes on with it, walrelay "
                                        "replay cancel {0} gives it up",
                                        each.number)});
        }
    }
    auto slot = settings.postgres.slot;
    const auto dropped = co_await postgres::drop_kept_slot(sql, bookmark->slot, std::move(slot));
    if (!dropped) {
        co_return fail(dropped.error());
    }
    fmt::print("dropped bookmark {} (slot {})\n", bookmark->name, bookmark->slot);
    co_return exit_done;
}

awaitable<int> serve_bookmarks(servers::executors on, const config::settings& settings,
                               const bookmark_request& request) {
    auto sql = co_await servers::open_sql_of_own_schema(on.loop, settings);
    if (!sql) {
        co_return fail(sql.error());
    }
    const auto found = co_await postgres::read_kept_positions(*sql, settings.postgres.slot);
    if (!found) {
        co_return fail(found.error());
    }
    switch (request.action) {
        case bookmark_action::create:
            co_return co_await create_bookmark(on, *sql, settings, request, *found);
        case bookmark_action::list:
            co_return list_positions(*found, request.json);
        case bookmark_action::drop:
            co_return co_await drop_bookmark(*sql, settings, *found, request.name);
    }
    co_return exit_usage;
}

}  // namespace

int command_bookmark(const config::settings& settings, const bookmark_request& request) {
    return servers::run_to_end(
        [&](servers::executors on) { return serve_bookmarks(on, settings, request); });
}

}  // namespace walrelay::app
