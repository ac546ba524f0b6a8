#include "servers/halt_gate.hpp"

#include "core/joined.hpp"
#include "core/rethrow.hpp"
#include "log/log.hpp"
#include "postgres/catalog/own_tables.hpp"
#include "servers/postgres_access.hpp"
#include "servers/translate.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <memory>
#include <utility>

namespace walrelay::servers {

namespace asio = boost::asio;
using asio::awaitable;

namespace {

constexpr std::chrono::seconds keep_patience{5};

/// The write and the clock that bounds it; whichever ends first says what came of it.
struct keeping {
    explicit keeping(const asio::any_io_executor& executor) : clock(executor) {}

    asio::steady_timer clock;
    bool ended = false;
    std::optional<postgres::connection> sql = {};
    result<void> done = error{errc::postgres_unavailable,
                              "PostgreSQL did not answer within 5 s when the halt was to be kept"};

    void end(result<void> how) {
        if (!std::exchange(ended, true)) {
            done = std::move(how);
            clock.cancel();
        }
    }
};

/// Shared: a connection that hangs is closed from outside, and may still be here then.
awaitable<void> write(std::shared_ptr<keeping> shared, config::settings settings,
                      std::string reason, std::string fix) {
    auto options = connect_options_of(settings);
    options.timeout = keep_patience;
    auto opened = co_await postgres::connection::open(shared->clock.get_executor(), options);
    if (shared->ended) {
        co_return;
    }
    if (!opened) {
        shared->end(opened.error());
        co_return;
    }
    shared->sql.emplace(std::move(*opened));
    auto tables = published_tables_of(settings);
    const auto trusted = co_await postgres::check_own_schema(*shared->sql, tables);
    if (!trusted) {
        shared->end(trusted.error());
        co_return;
    }
    auto stored = co_await postgres::store_halt(
        *shared->sql, settings.postgres.slot, std::move(reason), std::move(fix), std::move(tables));
    shared->end(std::move(stored));
}

}  // namespace

error error_of(const std::string& slot, const postgres::kept_halt& halt) {
    return {errc::halted,
            "slot " + slot + " is halted since " + halt.halted_at + ": " + halt.reason, halt.fix};
}

awaitable<bool> keep_halt(asio::any_io_executor executor, const config::settings& settings,
                          std::string reason, std::string fix) {
    const auto shared = std::make_shared<keeping>(executor);
    shared->clock.expires_after(keep_patience);
    asio::co_spawn(executor, write(shared, settings, std::move(reason), std::move(fix)), rethrow{});
    if (!shared->ended) {
        co_await shared->clock.async_wait(asio::as_tuple(asio::use_awaitable));
    }
    shared->ended = true;
    const auto done = shared->done;
    if (shared->sql) {
        shared->sql->close();
    }
    if (!done) {
        log<"halt_not_kept">(
            to_string(done.error()) +
                "; the halt is not kept in walrelay.halt, so that nothing but this line keeps "
                "the next start from going on past what is missing",
            with<"error">(done.error().code));
    }
    co_return done.has_value();
}

void halt_gate::warn(const error& why, const std::string& consequence) {
    if (!std::exchange(warned_, true)) {
        log<"halt_not_read">(clause_of(to_string(why)) + "; " + consequence,
                             with<"error">(why.code));
    }
}

passage halt_gate::pass(passage how, const std::string& was, const std::string& why) {
    if (!std::exchange(said_, true)) {
        log<"halt_passed">(was + "; going on, as " + why, with<"slot">(settings_.postgres.slot));
    }
    return how;
}

passage halt_gate::heal(const std::string& was, const std::string& why) {
    if (healed_) {
        return passage::open;
    }
    if (!std::exchange(said_, true)) {
        log<"halt_healing">(
            was + "; healing (" + why + "): what the stream lacks is published from the tables",
            with<"slot">(settings_.postgres.slot));
    }
    return passage::heals;
}

result<passage> halt_gate::judge(const postgres::kept_halt& halt) {
    using decision = postgres::halt_decision;
    const auto& slot = settings_.postgres.slot;
    const auto was = "slot " + slot + " was halted at " + halt.halted_at + " (" + halt.reason + ")";
    asked_to_heal_ = halt.decision == decision::heal;
    gives_up_ = halt.decision == decision::give_up;
    passing_ = halt.which;
    if (gives_up_) {
        return pass(passage::gives_up, was,
                    "an operator gave the missing rows up at " + halt.decided_at +
                        " (walrelay resume --give-up): walrelay dead-letter list --given-up names "
                        "them");
    }
    if (skips_) {
        return pass(passage::gives_up, was, "--skip-startup-check asks for");
    }
    if (asked_to_heal_) {
        return heal(was, "walrelay resume --heal, at " + halt.decided_at);
    }
    if (settings_.delivery.on_slot_loss == config::slot_loss_policy::heal) {
        return heal(was, "on_slot_loss = \"heal\"");
    }
    const bool is_over = halt.decision == decision::look || halt.decision == decision::looked;
    if (is_over && passed_ == halt.which) {
        // It could not be removed when this relay began to stream.
        return passage::open;
    }
    if (halt.decision == decision::look) {
        return pass(passage::compares, was,
                    "it was resumed at " + halt.decided_at +
                        ", where nobody looked: all rows are compared with the stream first, and "
                        "halt it again where some are missing");
    }
    if (halt.decision == decision::looked) {
        return pass(
            passage::looks, was,
            "it was resumed at " + halt.decided_at + "; rows that are still missing halt it again");
    }
    return error_of(slot, halt);
}

awaitable<result<passage>> halt_gate::ask(postgres::connection& sql) {
    const auto halt = co_await postgres::read_halt(sql, settings_.postgres.slot);
    asked_to_heal_ = false;
    gives_up_ = false;
    passing_.clear();
    if (halt) {
        co_return *halt ? judge(**halt) : result<passage>(passage::open);
    }
    if (halt.error().code != errc::postgres_unsuitable) {
        co_return halt.error();
    }
    warn(halt.error(), "whether the slot was halted before is not known, and it is taken");
    co_return passage::open;
}

awaitable<result<void>> halt_gate::was_compared(postgres::connection& sql) {
    auto slot = settings_.postgres.slot;
    auto which = passing_;
    co_return co_await postgres::note_comparison(sql, std::move(slot), std::move(which));
}

void halt_gate::has_passed() {
    skips_ = false;
    healed_ = false;
    asked_to_heal_ = false;
    said_ = false;
}

awaitable<result<void>> halt_gate::streams(postgres::connection& sql) {
    const auto& slot = settings_.postgres.slot;
    if (passing_.empty()) {
        has_passed();
        co_return result<void>{};
    }
    passed_ = std::exchange(passing_, {});
    const auto forgotten = co_await postgres::forget_halt(sql, slot, passed_);
    if (forgotten || forgotten.error().code == errc::postgres_unsuitable) {
        // Else the connection is gone, and the next one passes the same halt.
        has_passed();
    }
    if (forgotten && *forgotten) {
        log<"halt_removed">("the halt of slot " + slot + " is over and removed",
                            with<"slot">(slot));
    } else if (!forgotten && gives_up_) {
        co_return error{forgotten.error().code,
                        "the halt of slot " + slot +
                            ", whose rows were given up, stays in walrelay.halt, so that every "
                            "later start would give up what is missing then: " +
                            forgotten.error().what,
                        forgotten.error().remedy};
    } else if (!forgotten) {
        log<"halt_not_removed">(clause_of(to_string(forgotten.error())) + "; the halt of slot " +
                                    slot + " is over, but still in walrelay.halt",
                                with<"slot">(slot), with<"error">(forgotten.error().code));
    }
    co_return result<void>{};
}

}  // namespace walrelay::servers
