#include "app/commands.hpp"
#include "app/exit_code.hpp"
#include "app/fail.hpp"
#include "app/replay_rewind.hpp"
#include "app/replay_text.hpp"
#include "app/replay_to_stream.hpp"
#include "core/progress.hpp"
#include "servers/broker_side.hpp"
#include "servers/postgres_access.hpp"
#include "servers/run_to_end.hpp"
#include "servers/translate.hpp"
#include "tasks/replay/replay_progress_line.hpp"
#include "tasks/replay/replay_scope.hpp"
#include "tasks/replay/replay_work.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

namespace walrelay::app {
namespace {

using boost::asio::awaitable;
using postgres::kept_replay;
using tasks::replay_request;

int no_such_replay(const config::settings& settings, std::int64_t number) {
    fmt::print(stderr, "walrelay: slot {} has no replay {}; fix: walrelay replay list shows them\n",
               settings.postgres.slot, number);
    return exit_findings;
}

/// What cannot be looked at is not known, and shown so.
awaitable<open_replays> look_at_stream(servers::executors on, postgres::connection& sql,
                                       const config::settings& settings) {
    auto found = co_await tasks::look_at_open_replays(std::move(on), settings, sql);
    co_return found ? std::move(*found) : open_replays{};
}

awaitable<int> list(servers::executors on, postgres::connection& sql,
                    const config::settings& settings, bool json) {
    auto slot = settings.postgres.slot;
    const auto all = co_await postgres::list_replays(sql, std::move(slot));
    if (!all) {
        co_return fail(all.error());
    }
    const auto open = co_await look_at_stream(std::move(on), sql, settings);
    if (json) {
        std::string text;
        for (const auto& each : *all) {
            text += (text.empty() ? "" : ",") + json_of_replay(each, open);
        }
        fmt::print("{{\"replays\":[{}]}}\n", text);
    } else if (all->empty()) {
        fmt::print("no replays\n");
    } else {
        fmt::print("{}", text_of_replays(*all, open));
    }
    co_return exit_done;
}

awaitable<int> cancel(postgres::connection& sql, const kept_replay& one) {
    const auto ended =
        co_await postgres::end_replay(sql, one.number, postgres::replay_state::cancelled);
    if (!ended) {
        co_return fail(ended.error());
    }
    if (!*ended) {
        fmt::print(stderr, "walrelay: replay {} is {} already\n", one.number, to_string(one.state));
        co_return exit_findings;
    }
    fmt::print(
        "cancelled replay {}: {} of {} were written; the relay publishes what it has not read of "
        "them yet\n",
        one.number, with_thousands(one.rows_written), counted(one.rows_planned, "row"));
    co_return exit_done;
}

awaitable<int> carry_out(servers::executors on, postgres::connection& sql,
                         const config::settings& settings, kept_replay one) {
    const auto number = one.number;
    tasks::replay_progress_line progress;
    const auto outcome = co_await tasks::carry_out_replay(
        std::move(on), settings, sql, std::move(one),
        [&](const tasks::replay_progress& now) { progress.show(now); });
    progress.end();
    if (!outcome) {
        auto why = outcome.error();
        if (why.code == errc::position_not_kept) {
            co_return refuse(why);
        }
        why.remedy +=
            (why.remedy.empty() ? "" : ", then: ") +
            fmt::format("walrelay replay resume {} (it goes on at the exact row)", number);
        co_return fail(why);
    }
    if (outcome->done_before) {
        fmt::print(stderr, "walrelay: replay {} is done already\n", number);
        co_return exit_findings;
    }
    if (outcome->cancelled) {
        fmt::print("replay {} was cancelled\n", number);
        co_return exit_findings;
    }
    fmt::print("{}", text_of_outcome(number, *outcome));
    co_return exit_done;
}

awaitable<int> resume(servers::executors on, postgres::connection& sql,
                      const config::settings& settings, kept_replay one) {
    if (one.state != postgres::replay_state::running) {
        fmt::print(stderr, "walrelay: replay {} is {} already\n", one.number, to_string(one.state));
        co_return exit_findings;
    }
    const auto slot = settings.postgres.slot;
    const auto ready = co_await postgres::prepare_replays(sql, slot, settings.postgres.publication,
                                                          servers::published_tables_of(settings));
    if (!ready) {
        co_return fail(ready.error());
    }
    co_return co_await carry_out(std::move(on), sql, settings, std::move(one));
}

awaitable<int> execute(servers::executors on, postgres::connection& sql,
                       const config::settings& settings, kept_replay scope,
                       const relay::replay_plan& plan) {
    const auto ready = co_await postgres::prepare_replays(
        sql, scope.slot, settings.postgres.publication, servers::published_tables_of(settings));
    if (!ready) {
        co_return fail(ready.error());
    }
    scope.rows_planned = plan.all.rows;
    const auto stream = co_await servers::glance_at_stream(on.blocking, settings);
    if (stream && *stream) {
        scope.stream_sequence = (*stream)->usage.last_sequence;
    }
    const auto number = co_await postgres::begin_replay(sql, scope);
    if (!number) {
        co_return fail(number.error());
    }
    scope.number = *number;
    fmt::print("replay {}: {}; if this is broken off: walrelay replay resume {}\n", *number,
               counted(plan.all.rows, "row"), *number);
    std::fflush(stdout);
    co_return co_await carry_out(std::move(on), sql, settings, std::move(scope));
}

awaitable<int> show_plan(servers::executors on, const config::settings& settings,
                         const replay_request& request, const kept_replay& scope,
                         const relay::replay_plan& plan) {
    replay_words words{scope, plan, {}, settings.nats.stream};
    if (const auto seen = co_await servers::glance_at_stream(on.blocking, settings); seen) {
        words.fill = *seen;
    }
    if (plan.first && !scope.reads_table()) {
        words.share =
            co_await tasks::find_in_stream(std::move(on), settings, *plan.first, *plan.last);
    }
    if (request.json) {
        fmt::print("{}\n", json_of_plan(words));
        co_return exit_done;
    }
    fmt::print("{}", text_of_plan(words));
    if (plan.all.rows > 0) {
        fmt::print("nothing has been done yet; run the same command with --execute to do it\n");
    }
    co_return exit_done;
}

awaitable<int> replay(servers::executors on, postgres::connection& sql,
                      const config::settings& settings, const replay_request& request) {
    const auto scope = co_await tasks::scope_of(sql, settings, request);
    if (!scope) {
        co_return refuse(scope.error());
    }
    if (!request.to_stream.empty()) {
        co_return co_await replay_to_stream(std::move(on), sql, settings, request, *scope);
    }
    tasks::replay_progress_line progress;
    const auto plan = co_await tasks::plan_replay(
        on, settings, sql, *scope, [&](const tasks::replay_progress& now) { progress.show(now); });
    progress.end();
    if (!plan) {
        co_return refuse(plan.error());
    }
    if (!request.execute) {
        co_return co_await show_plan(std::move(on), settings, request, *scope, *plan);
    }
    if (plan->all.rows > request.limit_rows) {
        co_return too_many(plan->all.rows, request.limit_rows);
    }
    if (plan->all.rows == 0) {
        fmt::print("no rows in the range; nothing was done\n");
        co_return exit_done;
    }
    co_return co_await execute(std::move(on), sql, settings, *scope, *plan);
}

awaitable<int> with_number(servers::executors on, postgres::connection& sql,
                           const config::settings& settings, const replay_request& request) {
    auto slot = settings.postgres.slot;
    const auto found = co_await postgres::find_replay(sql, std::move(slot), request.number);
    if (!found) {
        co_return fail(found.error());
    }
    if (!*found) {
        co_return no_such_replay(settings, request.number);
    }
    if (request.action == tasks::replay_action::cancel) {
        co_return co_await cancel(sql, **found);
    }
    if (request.action == tasks::replay_action::resume) {
        co_return co_await resume(std::move(on), sql, settings, **found);
    }
    const auto open = co_await look_at_stream(std::move(on), sql, settings);
    if (request.json) {
        fmt::print("{}\n", json_of_replay(**found, open));
    } else {
        fmt::print("{}", text_of_replay(**found, open));
    }
    co_return exit_done;
}

awaitable<int> work(servers::executors on, const config::settings& settings,
                    const replay_request& request) {
    auto sql = co_await servers::open_sql_of_own_schema(on.loop, settings);
    if (!sql) {
        co_return fail(sql.error());
    }
    if (request.action == tasks::replay_action::list) {
        co_return co_await list(std::move(on), *sql, settings, request.json);
    }
    if (!request.rewind.empty()) {
        co_return co_await replay_rewind(std::move(on), *sql, settings, request);
    }
    if (request.action == tasks::replay_action::replay) {
        co_return co_await replay(std::move(on), *sql, settings, request);
    }
    co_return co_await with_number(std::move(on), *sql, settings, request);
}

}  // namespace

int command_replay(const config::settings& settings, const tasks::replay_request& request) {
    if (request.action == tasks::replay_action::replay && request.from.empty() &&
        !request.reads_table() && request.rewind.empty()) {
        return refuse_usage(
            "it is not said what to replay",
            "walrelay replay --from WHERE: a bookmark, a time, an LSN or a position; or "
            "--rows, --ids or --ids-file with --table");
    }
    if (request.reads_table() && !request.subject.empty()) {
        return refuse_usage(
            "a filter by --subject goes with --from alone",
            "choose the rows by --rows; --subject with {subject} in it says where they go");
    }
    return servers::run_to_end([&](servers::executors on) { return work(on, settings, request); });
}

}  // namespace walrelay::app
