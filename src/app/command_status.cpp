#include "app/colour.hpp"
#include "app/commands.hpp"
#include "app/exit_code.hpp"
#include "app/status_fetch.hpp"
#include "app/status_text.hpp"
#include "http/status_json.hpp"
#include "log/log.hpp"
#include "postgres/tables/halt_store.hpp"
#include "postgres/tables/kept_positions.hpp"
#include "postgres/tables/usage.hpp"
#include "servers/broker_side.hpp"
#include "servers/postgres_access.hpp"
#include "servers/run_to_end.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <utility>

namespace walrelay::app {
namespace {

using boost::asio::awaitable;

/// What a server said, or why it said nothing.
template <class Facts>
struct told {
    std::optional<Facts> facts = {};
    std::string trouble = {};
};

template <class Facts>
told<Facts> told_by(result<std::optional<Facts>> said, const char* where_none = "") {
    if (!said) {
        return {std::nullopt, to_string(said.error())};
    }
    return {std::move(*said), *said ? "" : where_none};
}

/// Where no relay answers.
struct asked_servers {
    told<slot_usage> slot;
    std::optional<postgres::kept_halt> halt = {};
    told<nats::stream_glance> stream;
    told<open_letters> letters;
    told<kept_positions> kept;
};

/// Health checks need no more than the port of the relay.
error no_conninfo() {
    return {errc::configuration_invalid, "postgres.conninfo is not set: PostgreSQL was not asked",
            "start with --postgres, or name the file with --config"};
}

awaitable<asked_servers> ask_servers(servers::executors on, const config::settings& settings) {
    asked_servers said;
    result<postgres::connection> sql = no_conninfo();
    if (!settings.postgres.conninfo.empty()) {
        sql = co_await servers::open_sql(on.loop, settings);
    }
    if (sql) {
        const auto& slot = settings.postgres.slot;
        said.slot =
            told_by(co_await postgres::read_slot_usage(*sql, slot), "there is no such slot");
        const auto halt = co_await postgres::read_halt(*sql, slot);
        if (halt) {
            said.halt = *halt;
        }
        said.letters = told_by(co_await postgres::read_open_letters(*sql, slot));
        auto kept = co_await postgres::read_kept_positions(*sql, slot);
        if (kept) {
            said.kept.facts = std::move(*kept);
        } else {
            said.kept.trouble = to_string(kept.error());
        }
    } else {
        const auto why = to_string(sql.error());
        said.slot.trouble = said.letters.trouble = said.kept.trouble = why;
    }
    said.stream = told_by(co_await servers::glance_at_stream(on.blocking, settings),
                          "there is no such stream");
    co_return said;
}

/// In the form of /status, as far as it can be known.
std::string without_a_relay(const config::settings& settings, const error& no_relay,
                            const asked_servers& said) {
    const bool is_halted = said.halt && !said.halt->decision;
    const auto reason =
        no_relay.what + (is_halted ? ". The slot is halted: " + said.halt->reason : "");
    http::json_writer to;
    to.open_object().number("schema", 1).text("state", "no_answer").flag("ready", false);
    to.text("reason", reason).text("fix", is_halted ? said.halt->fix : "");
    to.open_object("slot").text("name", settings.postgres.slot).number("age_seconds", 0);
    write_facts(to, said.slot.facts);
    to.text("trouble", said.slot.trouble);
    to.close_object();
    to.open_object("stream").text("name", settings.nats.stream).number("age_seconds", 0);
    const auto& stream = said.stream.facts;
    write_facts(to, stream ? std::optional(stream->usage) : std::nullopt);
    to.text("trouble", said.stream.trouble);
    to.close_object().open_object("dead_letters").number("age_seconds", 0);
    write_facts(to, said.letters.facts);
    to.text("trouble", said.letters.trouble);
    to.close_object().open_object("kept_positions").number("age_seconds", 0);
    to.number("max_wal_bytes", settings.replay.max_wal.bytes);
    to.flag("keeps_trail", settings.replay.keep.has_value());
    write_facts(to, said.kept.facts);
    to.text("trouble", said.kept.trouble);
    return to.close_object().close_object().take() + "\n";
}

void print(const std::string& json, const status_options& options) {
    if (options.quiet) {
        return;
    }
    const auto shown = show_status(json);
    const bool is_screen = options.watch && ::isatty(STDOUT_FILENO) == 1;
    fmt::print("{}{}", is_screen ? "\x1b[H\x1b[2J" : "",
               options.json || !shown ? json : for_output(shown->text));
    if (options.watch && !options.json && !is_screen) {
        fmt::print("\n");
    }
    std::fflush(stdout);
}

awaitable<int> look(servers::executors on, const config::settings& settings,
                    status_options options) {
    auto answer = co_await fetch_status(on.loop, settings.http.listen);
    if (answer && !show_status(*answer)) {
        answer = error{errc::configuration_invalid, "no relay answers at " + settings.http.listen +
                                                        ": the answer is not that of a relay"};
    }
    if (answer) {
        print(*answer, options);
        co_return show_status(*answer)->ready ? exit_done : exit_findings;
    }
    if (options.quiet) {
        log<"command_failed">(answer.error().what, with<"error">(answer.error().code));
        co_return exit_findings;
    }
    const auto said = co_await ask_servers(on, settings);
    print(without_a_relay(settings, answer.error(), said), options);
    co_return exit_findings;
}

awaitable<int> status(servers::executors on, const config::settings& settings,
                      status_options options) {
    constexpr std::chrono::seconds pause{1};
    boost::asio::steady_timer timer(on.loop);
    for (;;) {
        const int code = co_await look(on, settings, options);
        if (!options.watch) {
            co_return code;
        }
        timer.expires_after(pause);
        co_await timer.async_wait(boost::asio::use_awaitable);
    }
}

}  // namespace

int command_status(const config::settings& settings, status_options options) {
    return servers::run_to_end(
        [&](servers::executors on) { return status(on, settings, options); });
}

}  // namespace walrelay::app
