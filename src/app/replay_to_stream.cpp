#include "app/replay_to_stream.hpp"

#include "app/exit_code.hpp"
#include "app/fail.hpp"
#include "app/replay_text.hpp"
#include "core/one_line.hpp"
#include "core/progress.hpp"
#include "tasks/replay/copy_plan.hpp"
#include "tasks/replay/replay_progress_line.hpp"
#include "tasks/replay/stream_copy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <utility>

namespace walrelay::app {
namespace {

using boost::asio::awaitable;

constexpr std::string_view left_out_earlier = ", which an earlier run has left out";

/// Returns the exit code.
int name_left_out(const tasks::left_out_rows& left_out, const std::string& stream,
                  std::string_view when) {
    if (left_out.count == 0) {
        return exit_done;
    }
    fmt::print(stderr, "walrelay: {} {} not in stream {}{}{}\n", counted(left_out.count, "row"),
               left_out.count == 1 ? "is" : "are", stream, when, left_out.named.empty() ? "" : ":");
    for (const auto& each : left_out.named) {
        fmt::print(stderr, "  {}\n", one_line(each));
    }
    if (left_out.count > left_out.named.size()) {
        fmt::print(stderr, "  {} more, which are not named here\n",
                   left_out.count - left_out.named.size());
    }
    return exit_findings;
}

std::string why_nothing(const tasks::copy_plan& planned, const std::string& stream) {
    if (planned.left_out_there.count > 0) {
        return "stream " + stream + " ends with the range";
    }
    return planned.rows_there == 0 ? "no rows in the range"
                                   : "stream " + stream + " has all of the range";
}

/// `there` are those that earlier runs have left out.
int show_outcome(const tasks::copy_outcome& done, const tasks::left_out_rows& there,
                 const std::string& stream) {
    const auto published = "published " + counted(done.published, "row") + " into stream " + stream;
    if (!done.broken_off) {
        fmt::print("{}, which ends with sequence {}\n", published, done.last_sequence);
    } else if (done.published > 0) {
        fmt::print("{}, and then:\n", published);
        std::fflush(stdout);
    }
    const auto earlier = name_left_out(there, stream, left_out_earlier);
    const auto now = name_left_out(done.left_out, stream, "");
    return done.broken_off ? refuse(*done.broken_off) : std::max(earlier, now);
}

int show_plan(const config::settings& settings, const tasks::replay_request& request,
              const postgres::kept_replay& scope, const tasks::copy_plan& planned) {
    replay_words words{scope, planned.plan, {}, settings.nats.stream, {}, request.to_stream};
    if (planned.there) {
        words.there_up_to = planned.there->last;
        words.rows_there = planned.rows_there;
    }
    if (request.json) {
        fmt::print("{}\n", json_of_plan(words));
        return exit_done;
    }
    fmt::print("{}", text_of_plan(words));
    name_left_out(planned.left_out_there, request.to_stream, left_out_earlier);
    if (planned.rows_left > 0) {
        fmt::print("nothing has been done yet; run the same command with --execute to do it\n");
    }
    return exit_done;
}

awaitable<int> copy_rows(servers::executors on, postgres::connection& sql,
                         const config::settings& settings, postgres::kept_replay scope,
                         tasks::copy_wish wanted, tasks::left_out_rows there) {
    const auto stream = wanted.stream;
    fmt::print("{} to publish into stream {}; if this is broken off, the same command goes on\n",
               counted(wanted.rows_planned, "row"), stream);
    std::fflush(stdout);
    tasks::replay_progress_line copying;
    const auto done = co_await tasks::copy_to_stream(
        std::move(on), settings, sql, std::move(scope), std::move(wanted),
        [&copying](const tasks::replay_progress& now) { copying.show(now); });
    copying.end();
    if (!done) {
        co_return refuse(done.error());
    }
    co_return show_outcome(*done, there, stream);
}

}  // namespace

int refuse_usage(const std::string& what, const std::string& fix) {
    fmt::print(stderr, "walrelay: {}; fix: {}\n", what, fix);
    return exit_usage;
}

int refuse(const error& why) {
    switch (why.code) {
        case errc::configuration_invalid:
            fmt::print(stderr, "walrelay: {}\n", to_string(why));
            return exit_usage;
        case errc::position_not_kept:
            fmt::print(stderr, "walrelay: {}\n", to_string(why));
            return exit_findings;
        default:
            return fail(why);
    }
}

int too_many(std::uint64_t rows, std::uint64_t limit) {
    return refuse_usage(
        fmt::format("{} are in the range, more than --limit {}; nothing was done",
                    counted(rows, "row"), limit),
        "look at the plan without --execute, then choose fewer rows or a higher --limit");
}

awaitable<int> replay_to_stream(servers::executors on, postgres::connection& sql,
                                const config::settings& settings, tasks::replay_request request,
                                postgres::kept_replay scope) {
    tasks::replay_progress_line progress;
    const auto show = [&progress](const tasks::replay_progress& now) { progress.show(now); };
    const auto& stream = request.to_stream;
    const auto planned = co_await tasks::plan_copy(on, settings, sql, scope, stream, show);
    progress.end();
    if (!planned) {
        co_return refuse(planned.error());
    }
    if (!request.execute) {
        co_return show_plan(settings, request, scope, *planned);
    }
    const auto rows = planned->rows_left;
    if (rows > request.limit_rows) {
        co_return too_many(rows, request.limit_rows);
    }
    if (rows == 0) {
        fmt::print("{}; nothing was done\n", why_nothing(*planned, stream));
        co_return name_left_out(planned->left_out_there, stream, left_out_earlier);
    }
    tasks::copy_wish wanted{stream, std::nullopt, rows};
    if (planned->there) {
        wanted.after = planned->there->last;
    }
    auto left_out = planned->left_out_there;
    co_return co_await copy_rows(std::move(on), sql, settings, std::move(scope), std::move(wanted),
                                 std::move(left_out));
}

}  // namespace walrelay::app
