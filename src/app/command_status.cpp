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

/// What the servers say where no relay answers; why not, where they do not either.
struct asked_servers {
    result<std::optional<slot_usage>> slot = std::optional<slot_usage>{};
    std::optional<postgres::kept_halt> halt = {};
    result<std::optional<nats::stream_glance>> stream = std::optional<nats::stream_glance>{};
    result<std::optional<letter_totals>> letters = std::optional<letter_totals>{};
    result<std::optional<kept_positions>> kept = std::optional<kept_positions>{};
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
        said.slot = co_await postgres::read_slot_usage(*sql, settings.postgres.slot);
        const auto halt = co_await postgres::read_halt(*sql, settings.postgres.slot);
        if (halt) {
            said.halt = *halt;
        }
        said.letters = co_await postgres::count_dead_letters(*sql, settings.postgres.slot);
        auto kept = co_await postgres::read_kept_positions(*sql, settings.postgres.slot);
        said.kept = kept ? result<std::optional<kept_positions>>(std::move(*kept)) : kept.error();
    } else {
        said.slot = sql.error();
        said.letters = sql.error();
    }
    said.stream = co_await servers::glance_at_stream(on.blocking, settings);
    co_return said;
}

template <class Facts>
std::optional<Facts> known(const result<std::optional<Facts>>& said) {
    return said ? *said : std::nullopt;
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
    write_facts(to, known(said.slot));
    to.text("trouble",
            said.slot ? (*said.slot ? "" : "there is no such slot") : to_string(said.slot.error()));
    to.close_object();
    to.open_object("stream").text("name", settings.nats.stream).number("age_seconds", 0);
    const auto stream = known(said.stream);
    write_facts(to, stream ? std::optional(stream->usage) : std::nullopt);
    to.text("trouble", said.stream ? (*said.stream ? "" : "there is no such stream")
                                   : to_string(said.stream.error()));
    to.close_object().open_object("dead_letters").number("age_seconds", 0);
    write_facts(to, known(said.letters));
    to.text("trouble", said.letters ? "" : to_string(said.letters.error()));
    to.close_object().open_object("kept_positions").number("age_seconds", 0);
    to.number("max_wal_bytes", settings.replay.max_wal.bytes);
    to.flag("keeps_trail", settings.replay.keep.has_value());
    write_facts(to, known(said.kept));
    to.text("trouble", said.kept ? "" : to_string(said.kept.error()));
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
