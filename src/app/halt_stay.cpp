#include "app/halt_stay.hpp"

#include "app/clock.hpp"
#include "log/log.hpp"
#include "relay/machine/relay_words.hpp"
#include "servers/halt_gate.hpp"
#include "servers/postgres_access.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <optional>
#include <string>

namespace walrelay::app {

namespace asio = boost::asio;
using asio::awaitable;

namespace {

constexpr std::chrono::seconds look_every{2};
constexpr std::chrono::minutes say_every{1};

bool is_durable(const error& why) {
    return why.code == errc::gap_found || why.code == errc::halted;
}

awaitable<void> wait(const asio::any_io_executor& executor, std::chrono::milliseconds time) {
    asio::steady_timer clock(executor);
    clock.expires_after(time);
    co_await clock.async_wait(asio::use_awaitable);
}

struct standing_halt {
    /// PostgreSQL has answered.
    bool is_known = false;
    bool is_there = false;
    /// Which halt was decided about, and when; empty where none was.
    std::string decided = {};
};

awaitable<standing_halt> look_at_halt(const asio::any_io_executor& executor,
                                      const config::settings& settings) {
    auto sql = co_await servers::open_sql(executor, settings);
    if (!sql) {
        co_return standing_halt{};
    }
    const auto halt = co_await postgres::read_halt(*sql, settings.postgres.slot);
    if (!halt || !*halt) {
        co_return standing_halt{.is_known = halt.has_value()};
    }
    co_return standing_halt{true, true,
                            (*halt)->decision ? (*halt)->which + " " + (*halt)->decided_at : ""};
}

/// Whether it is over. `decided_before`: what had been decided when this halt could not be kept,
/// about an earlier one.
bool is_over(const standing_halt& halt, bool kept,
             const std::optional<std::string>& decided_before) {
    if (kept) {
        return halt.is_known && (!halt.is_there || !halt.decided.empty());
    }
    // An operator can have decided also about one that could not be kept (resume --heal).
    return decided_before && !halt.decided.empty() && halt.decided != *decided_before;
}

}  // namespace

awaitable<void> stay_halted(asio::any_io_executor executor, const config::settings& settings,
                            halted_relay halted) {
    if (!is_durable(halted.why)) {
        log<"staying_halted">(
            "staying (delivery.on_halt = \"stay\"); the relay starts over every " +
                relay::seconds_text(settings.delivery.backoff_max) +
                ", until what stopped it is gone",
            with<"seconds">(std::optional(settings.delivery.backoff_max)));
        co_await wait(executor, settings.delivery.backoff_max);
        co_return;
    }
    log<"staying_halted">(
        "staying (delivery.on_halt = \"stay\") without slot and broker, until walrelay resume; " +
            std::string(relay::how_to_close_a_gap),
        with<"seconds">(std::optional<std::chrono::milliseconds>()));
    auto said = now().monotonic;
    std::optional<std::string> decided_before;
    if (const auto halt = co_await look_at_halt(executor, settings); halt.is_known) {
        decided_before = halt.decided;
    }
    for (;;) {
        co_await wait(executor, look_every);
        const auto halt = co_await look_at_halt(executor, settings);
        if (is_over(halt, halted.kept, decided_before)) {
            log<"resumed">("resumed: the relay starts over");
            co_return;
        }
        if (!decided_before && halt.is_known) {
            decided_before = halt.decided;
        }
        if (now().monotonic - said >= say_every) {
            said = now().monotonic;
            log<"still_halted">("still halted: " + to_string(halted.why),
                                with<"error">(halted.why.code));
            if (!halted.kept) {
                // Nobody can resume what is not there.
                halted.kept = co_await servers::keep_halt(executor, settings, halted.why.what,
                                                          halted.why.remedy);
            }
        }
    }
}

}  // namespace walrelay::app
