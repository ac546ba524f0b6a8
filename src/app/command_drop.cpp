#include "app/colour.hpp"
#include "app/commands.hpp"
#include "app/exit_code.hpp"
#include "app/fail.hpp"
#include "core/figures.hpp"
#include "core/one_line.hpp"
#include "http/json_writer.hpp"
#include "servers/postgres_access.hpp"
#include "servers/run_to_end.hpp"
#include "servers/translate.hpp"
#include "tasks/drop/drop_plan.hpp"
#include "tasks/drop/drop_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace walrelay::app {
namespace {

using boost::asio::awaitable;
using tasks::drop_fate;
using tasks::drop_item;

tasks::drop_wish wish_of(const config::settings& settings, const drop_options& options) {
    tasks::drop_wish wanted;
    wanted.slot = settings.postgres.slot;
    wanted.publication = settings.postgres.publication;
    wanted.outboxes = servers::published_tables_of(settings);
    wanted.stream = settings.nats.stream;
    wanted.with_stream = options.with_stream;
    wanted.with_schema = options.with_schema;
    return wanted;
}

std::string line_of(const char* word, const drop_item& item) {
    std::string text = fmt::format("{:<8} {} {}", word, to_string(item.kind), one_line(item.name));
    if (!item.about.empty()) {
        text += item.fate == drop_fate::drop ? " (" + one_line(item.about) + ")"
                                             : ": " + one_line(item.about);
    }
    if (item.held_bytes != 0) {
        text += "; keeps " + show_bytes(static_cast<double>(item.held_bytes)) + " of WAL";
    }
    text += '\n';
    if (item.fate != drop_fate::drop) {
        text += "         " + one_line(item.remedy) + '\n';
    }
    return text;
}

bool has_something(const std::vector<drop_item>& items) {
    return std::ranges::any_of(items,
                               [](const drop_item& each) { return each.fate == drop_fate::drop; });
}

int exit_code_of(const std::vector<drop_item>& items) {
    return std::ranges::any_of(items, &drop_item::is_trouble) ? exit_findings : exit_done;
}

void print_plan(const std::vector<drop_item>& items, const drop_options& options,
                const config::settings& settings) {
    std::string text;
    for (const auto& each : items) {
        text += line_of(to_string(each.fate), each);
    }
    if (!has_something(items)) {
        text += fmt::format("nothing of slot {} is there to be dropped\n", settings.postgres.slot);
    } else if (!options.execute) {
        text +=
            "nothing is dropped yet: --execute does it. Rows that are committed afterwards are "
            "not relayed\n";
    }
    fmt::print("{}", for_output(std::move(text)));
}

void print_json(const std::vector<drop_item>& items, bool executed) {
    http::json_writer to;
    to.open_object().flag("executed", executed).open_array("items");
    for (const auto& each : items) {
        to.open_object().text("fate", to_string(each.fate)).text("kind", to_string(each.kind));
        to.text("name", each.name).text("about", each.about).text("fix", each.remedy);
        to.number("held_bytes", each.held_bytes).close_object();
    }
    fmt::print("{}\n", to.close_array().close_object().take());
}

awaitable<int> execute(servers::executors on, postgres::connection& sql,
                       const config::settings& settings, const std::vector<drop_item>& items,
                       bool json) {
    for (const auto& each : items) {
        if (each.fate != drop_fate::drop) {
            continue;
        }
        const auto dropped = co_await tasks::drop_one(on, sql, settings, each);
        if (!dropped) {
            co_return fail(dropped.error());
        }
        if (!json) {
            fmt::print("dropped  {} {}\n", to_string(each.kind), one_line(each.name));
        }
    }
    if (json) {
        print_json(items, true);
    }
    co_return exit_code_of(items);
}

awaitable<int> drop(servers::executors on, const config::settings& settings, drop_options options) {
    auto sql = co_await servers::open_sql(on.loop, settings);
    if (!sql) {
        co_return fail(sql.error());
    }
    const auto wanted = wish_of(settings, options);
    const auto seen = co_await tasks::look_before_drop(on, *sql, settings, wanted);
    if (!seen) {
        co_return fail(seen.error());
    }
    const auto items = plan_drop(wanted, *seen);
    if (!options.json) {
        print_plan(items, options, settings);
    }
    if (const auto obstacle = obstacle_to_drop(wanted, *seen)) {
        co_return fail(*obstacle);
    }
    if (!options.execute) {
        if (options.json) {
            print_json(items, false);
        }
        co_return exit_code_of(items);
    }
    co_return co_await execute(on, *sql, settings, items, options.json);
}

}  // namespace

int command_drop(const config::settings& settings, drop_options options) {
    return servers::run_to_end([&](servers::executors on) { return drop(on, settings, options); });
}

}  // namespace walrelay::app
