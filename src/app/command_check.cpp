#include "app/broker_side.hpp"
#include "app/commands.hpp"
#include "app/exit_code.hpp"
#include "app/postgres_side.hpp"
#include "app/run_to_end.hpp"
#include "app/translate.hpp"
#include "core/json_string.hpp"
#include "postgres/halt_store.hpp"
#include "postgres/inspector.hpp"
#include "relay/stream_owner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace walrelay::app {
namespace {

using boost::asio::awaitable;
using relay::finding;
using relay::finding_severity;

finding finding_of(const error& why) {
    const auto what = why.server_said.empty()
                          ? why.what
                          : why.what + " (the server says: " + why.server_said + ")";
    return {
        finding_severity::error, what,
        why.remedy.empty() ? "see that the server runs and can be reached from here" : why.remedy};
}

awaitable<std::optional<stream_facts>> look_at_broker(executors on,
                                                      const config::settings& settings,
                                                      std::vector<finding>& found) {
    const nats::connection_events unheard{[](const nats::reply&) {}, [] {}, [] {},
                                          [](const error&) {}};
    const auto broker =
        co_await prepare_broker(on.loop, on.blocking, settings, 1, unheard, missing_stream::leave);
    if (!broker) {
        found.push_back(finding_of(broker.error()));
        co_return std::nullopt;
    }
    found = relay::broker_findings(expectations_of(settings), (*broker)->facts());
    co_return (*broker)->facts().stream;
}

awaitable<void> look_for_halt(postgres::connection& sql, const config::settings& settings,
                              std::vector<finding>& found) {
    const auto& slot = settings.postgres.slot;
    const auto halt = co_await postgres::read_halt(sql, slot);
    if (!halt) {
        auto unknown = finding_of(halt.error());
        unknown.severity = finding_severity::warning;
        found.push_back(std::move(unknown));
    } else if (*halt && (*halt)->resumed_at) {
        found.push_back({finding_severity::note,
                         "slot " + slot + " was halted at " + (*halt)->halted_at +
                             " and resumed at " + *(*halt)->resumed_at,
                         "nothing to do: the next walrelay run goes on"});
    } else if (*halt) {
        found.push_back(
            {finding_severity::error,
             "slot " + slot + " is halted since " + (*halt)->halted_at + ": " + (*halt)->reason,
             (*halt)->fix + "; walrelay resume lets relays go on"});
    }
}

awaitable<std::vector<finding>> look_at_postgres(executors on, const config::settings& settings,
                                                 std::optional<stream_facts> stream) {
    auto sql = co_await open_sql(on.loop, settings);
    if (!sql) {
        co_return std::vector{finding_of(sql.error())};
    }
    auto wanted = inspection_of(settings);
    const auto facts = co_await postgres::inspect(*sql, std::move(wanted));
    if (!facts) {
        co_return std::vector{finding_of(facts.error())};
    }
    const auto expected = expectations_of(settings);
    auto found = relay::postgres_findings(expected, *facts, relay::earlier_run_of(stream));
    if (stream) {
        const auto taken =
            relay::owner_findings(expected, owner_of(settings, *facts), stream->description);
        found.insert(found.begin(), taken.begin(), taken.end());
    }
    co_await look_for_halt(*sql, settings, found);
    co_return found;
}

std::string_view name_of(finding_severity severity) {
    switch (severity) {
        case finding_severity::note:
            return "note";
        case finding_severity::warning:
            return "warning";
        case finding_severity::error:
            return "error";
    }
    return "error";
}

void print_text(const std::vector<finding>& found) {
    for (const auto& each : found) {
        fmt::print("{:<8} {}\n         {}\n", name_of(each.severity), each.what, each.remedy);
    }
    if (found.empty()) {
        fmt::print("ok       both sides are ready\n");
    }
}

void print_json(const std::vector<finding>& found) {
    fmt::print("{{\"findings\":[");
    for (std::size_t index = 0; index < found.size(); ++index) {
        const auto& each = found[index];
        fmt::print(R"({}{{"severity":"{}","what":{},"remedy":{}}})", index == 0 ? "" : ",",
                   name_of(each.severity), json_string(each.what), json_string(each.remedy));
    }
    fmt::print("]}}\n");
}

awaitable<int> look(executors on, const config::settings& settings, bool json) {
    std::vector<finding> found;
    const auto stream = co_await look_at_broker(on, settings, found);
    auto on_postgres = co_await look_at_postgres(on, settings, stream);
    for (auto& each : on_postgres) {
        found.push_back(std::move(each));
    }
    json ? print_json(found) : print_text(found);
    const bool clean = std::all_of(found.begin(), found.end(), [](const finding& each) {
        return each.severity == finding_severity::note;
    });
    co_return clean ? exit_done : exit_findings;
}

}  // namespace

int command_check(const config::settings& settings, bool json) {
    return run_to_end([&](executors on) { return look(on, settings, json); });
}

}  // namespace walrelay::app
