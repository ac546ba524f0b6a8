#include "app/relay_driver.hpp"

#include "app/broker_side.hpp"
#include "app/clock.hpp"
#include "app/log.hpp"
#include "app/postgres_link.hpp"
#include "app/translate.hpp"
#include "core/rethrow.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <utility>
#include <variant>

namespace walrelay::app {

namespace asio = boost::asio;

namespace {

template <class... Handlers>
struct overloaded : Handlers... {
    using Handlers::operator()...;
};
// Clang 16 does not deduce aggregates by itself.
template <class... Handlers>
overloaded(Handlers...) -> overloaded<Handlers...>;

void write_line(const relay::write_log& line) {
    switch (line.severity) {
        case relay::log_severity::debug:
            log_debug(line.text);
            break;
        case relay::log_severity::info:
            log_info(line.text);
            break;
        case relay::log_severity::warning:
            log_warning(line.text);
            break;
        case relay::log_severity::error:
            log_error(line.text);
            break;
    }
}

}  // namespace

relay_driver::relay_driver(asio::io_context& io, const config::settings& settings,
                           std::vector<outbox::table_mapper> mappers, std::uint64_t seed)
    : io_(io),
      settings_(settings),
      machine_(relay_options_of(settings), std::move(mappers), seed),
      timer_(io),
      cleanup_(io, settings, [this] { return known_history(); }),
      gate_(settings) {}

void relay_driver::start() {
    machine_.start();
    settle();
}

void relay_driver::stop() {
    cleanup_.end();
    machine_.stop_requested(now());
    settle();
}

void relay_driver::clean_up() {
    given_up_.request_stop();
    blocking_.join();
    io_.restart();
    io_.poll();
}

// Obeying.

void relay_driver::settle() {
    // An action may report an event at once, which asks for this again.
    if (std::exchange(settling_, true)) {
        return;
    }
    const auto started = now().monotonic;
    while (auto wanted = next_action(started)) {
        obey(*wanted);
    }
    settling_ = false;
    if (broker_) {
        broker_->flush();
    }
    if (postgres_ && (machine_.wants_frames() || machine_.wants_rows())) {
        postgres_->wake_reader();
    }
    arm_timer();
}

std::optional<relay::action> relay_driver::next_action(monotonic_time started) {
    const bool full = broker_ && broker_->is_full();
    return full ? machine_.next_duty() : machine_.next_action(started);
}

executors relay_driver::where_to_run() {
    return {io_.get_executor(), blocking_.get_executor(), given_up_.get_token()};
}

void relay_driver::spawn(asio::awaitable<void> work) {
    asio::co_spawn(io_, std::move(work), rethrow{});
}

void relay_driver::obey_status(const relay::send_status& status) {
    if (postgres_ && postgres_->stream) {
        // A failure is told by the reader, which is never far.
        static_cast<void>(postgres_->stream->send(status.bytes));
    }
}

void relay_driver::obey(relay::action& wanted) {
    std::visit(
        overloaded{
            [this](const relay::publish& publish) { obey_publish(publish.what); },
            [this](const relay::send_status& status) { obey_status(status); },
            [this](const relay::connect_broker& connect) {
                broker_epoch_ = connect.epoch;
                spawn(connect_broker(connect));
            },
            [this](const relay::close_broker&) {
                broker_epoch_ = 0;
                broker_.reset();
            },
            [this](const relay::connect_postgres& connect) {
                postgres_epoch_ = connect.epoch;
                spawn(connect_postgres(connect));
            },
            [this](const relay::adopt_slot& adopt) { spawn(adopt_slot(adopt.epoch)); },
            [this](const relay::close_postgres&) { close_postgres(); },
            [this](const relay::finish_postgres&) { spawn(finish_postgres(postgres_)); },
            [this](relay::store_dead_letters& poison) { spawn(set_aside(std::move(poison))); },
            [this](const relay::ask_stream&) {
                if (broker_) {
                    broker_->ask_stream();
                }
            },
            [this](const relay::read_message& one) { spawn(read_message(one)); },
            [this](const relay::mark_stream& mark) { spawn(mark_stream(mark)); },
            [this](const relay::read_stored& which) { spawn(read_stored(which)); },
            [this](relay::look_for_rows& which) { spawn(look_for_rows(std::move(which))); },
            [this](relay::leave_out& which) { spawn(leave_out(std::move(which))); },
            [this](relay::write_back& rows) {
                spawn(write_back(rows.epoch, std::move(rows.batch)));
            },
            [this](const relay::fetch_row& row) { spawn(fetch_row(row)); },
            [this](const relay::find_blocker& of) { spawn(find_blocker(of)); },
            [this](const relay::look_at_table& one) { spawn(look_at_table(one)); },
            [this](const relay::ask_replayed& ask) { spawn(ask_replayed(ask.epoch)); },
            [this](relay::store_halt& halt) { spawn(store_halt(std::move(halt))); },
            [](const relay::write_log& line) { write_line(line); },
            [this](const relay::finish& finish) { end(finish); }},
        wanted);
}

void relay_driver::end(const relay::finish& finish) {
    exit_code_ = finish.exit_code;
    halted_for_ = finish.why;
    cleanup_.end();
    broker_epoch_ = 0;
    close_postgres();
    broker_.reset();
    io_.stop();
}

void relay_driver::obey_publish(const relay::outgoing& what) {
    if (!broker_) {
        return;
    }
    const auto published =
        broker_->publish(*what.content, what.token.index, what.expected_last_sequence);
    if (!published) {
        machine_.broker_failed(broker_epoch_, published.error(), now());
    }
}

void relay_driver::arm_timer() {
    const auto deadline = machine_.deadline();
    if (!deadline || (armed_for_ && *armed_for_ <= *deadline)) {
        return;
    }
    armed_for_ = deadline;
    timer_.expires_at(*deadline);
    timer_.async_wait([this](const boost::system::error_code& cancelled) {
        if (cancelled) {
            return;
        }
        armed_for_.reset();
        machine_.time_passed(now());
        settle();
    });
}

// The broker.

nats::connection_events relay_driver::broker_events(std::uint64_t epoch) {
    return {[this](const nats::reply& answer) {
                replies_came_at_ = replies_came_at_ ? replies_came_at_ : now();
                machine_.reply_arrived({answer.epoch, answer.index},
                                       relay::parse_publish_reply(answer.body), *replies_came_at_);
            },
            [this] {
                replies_came_at_.reset();
                settle();
            },
            [this] { settle(); },
            [this, epoch](const error& why) {
                replies_came_at_.reset();
                machine_.broker_failed(epoch, why, now());
                settle();
            },
            [this, epoch](std::string_view answer) {
                machine_.stream_answered(epoch, relay::parse_last_sequence(answer), now());
            }};
}

std::optional<error> relay_driver::taken_by_another(const broker_facts& facts) const {
    if (!owner_ || !facts.stream) {
        return std::nullopt;
    }
    return to_error(
        relay::owner_findings(expectations_of(settings_), *owner_, facts.stream->description),
        errc::broker_unsuitable);
}

asio::awaitable<void> relay_driver::connect_broker(relay::connect_broker wanted) {
    const auto epoch = wanted.epoch;
    if (wanted.step_down) {
        co_await ask_to_step_down(blocking_.get_executor(), settings_);
    }
    auto events = broker_events(epoch);
    const auto policy = stream_was_there_ ? missing_stream::report : missing_stream::create;
    auto ready =
        co_await prepare_broker(io_.get_executor(), blocking_.get_executor(), settings_, epoch,
                                std::move(events), policy, {wanted.look_back, wanted.asks_for});
    if (epoch != broker_epoch_) {
        co_return;
    }
    if (!ready) {
        machine_.broker_failed(epoch, ready.error(), now());
        settle();
        co_return;
    }
    if (const auto taken = taken_by_another((*ready)->facts())) {
        machine_.broker_failed(epoch, *taken, now());
        settle();
        co_return;
    }
    stream_was_there_ = true;
    broker_ = std::move(*ready);
    if (!earlier_run_) {
        earlier_run_ = relay::earlier_run_of(broker_->facts().stream);
    }
    stream_description_ = broker_->facts().stream->description;
    const auto& recent = broker_->facts().stream->recent;
    if (!roll_was_called_ && !recent.empty()) {
        roll_is_due_ = recent.back().stored_at;
    }
    const auto created = broker_->facts().stream->created;
    const auto& seen = *broker_->facts().stream;
    show_stream(stream_usage{seen.message_count, seen.byte_count, seen.last_sequence});
    machine_.broker_connected(epoch, broker_->facts(), now());
    settle();
    asio::co_spawn(io_, watch_stream(epoch, created), rethrow{});
}

asio::awaitable<void> relay_driver::watch_stream(std::uint64_t epoch, wall_time created) {
    const std::chrono::seconds pause{board_ == nullptr ? 10 : 5};
    asio::steady_timer timer(io_);
    while (epoch == broker_epoch_) {
        timer.expires_after(pause);
        co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
        if (epoch != broker_epoch_) {
            co_return;
        }
        const auto known = co_await glance_at_stream(blocking_.get_executor(), settings_);
        if (epoch != broker_epoch_) {
            co_return;
        }
        const bool is_there = known && *known;
        show_stream(is_there ? std::optional((*known)->usage) : std::nullopt);
        // That it cannot be asked for, because a secret is being changed, is no reason to stop.
        if (known && (!is_there || (*known)->created != created)) {
            machine_.broker_failed(epoch,
                                   {errc::broker_lost, "stream " + settings_.nats.stream +
                                                           " was deleted, or made again"},
                                   now());
            settle();
        }
    }
}

}  // namespace walrelay::app
