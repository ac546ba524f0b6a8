#include "app/relay_driver.hpp"

#include "app/broker_side.hpp"
#include "app/log.hpp"
#include "app/translate.hpp"
#include "postgres/dead_letter_store.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <utility>
#include <variant>

namespace walrelay::app {

namespace asio = boost::asio;

/// A stream and what belongs to it. Shared with the coroutines that wait on it.
struct relay_driver::postgres_link {
    postgres_link(asio::io_context& io, std::uint64_t of_epoch, streaming_postgres&& ready)
        : epoch(of_epoch),
          stream(std::move(ready.stream)),
          sentinel(std::move(ready.sentinel)),
          resumed(io) {}

    std::uint64_t epoch;
    postgres::replication_stream stream;
    postgres::connection sentinel;
    /// Made when the first dead letter is to be stored.
    std::optional<postgres::connection> dead_letters;
    /// Never fires; cancelled to wake the reader when the window has room again.
    asio::steady_timer resumed;
    bool parked = false;
    bool finishing = false;
    bool closed = false;

    void wake_reader() {
        if (parked) {
            resumed.cancel();
        }
    }
};

namespace {

instant now() {
    return {
        std::chrono::steady_clock::now(),
        std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now())};
}

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
      timer_(io) {}

void relay_driver::start() {
    machine_.start();
    settle();
}

void relay_driver::stop() {
    machine_.stop_requested(now());
    settle();
}

void relay_driver::clean_up() {
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
    while (auto wanted = machine_.next_action(started)) {
        obey(*wanted);
    }
    settling_ = false;
    if (broker_) {
        broker_->flush();
    }
    if (postgres_ && machine_.wants_frames()) {
        postgres_->wake_reader();
    }
    arm_timer();
}

void relay_driver::obey(relay::action& wanted) {
    std::visit(overloaded{[this](const relay::publish& publish) { obey_publish(publish.what); },
                          [this](const relay::send_status& status) {
                              if (postgres_) {
                                  // A failure is told by the reader, which is never far.
                                  static_cast<void>(postgres_->stream.send(status.bytes));
                              }
                          },
                          [this](const relay::connect_broker& connect) {
                              broker_epoch_ = connect.epoch;
                              asio::co_spawn(io_, connect_broker(connect), asio::detached);
                          },
                          [this](const relay::close_broker&) {
                              broker_epoch_ = 0;
                              broker_.reset();
                          },
                          [this](const relay::connect_postgres& connect) {
                              postgres_epoch_ = connect.epoch;
                              asio::co_spawn(io_, connect_postgres(connect.epoch), asio::detached);
                          },
                          [this](const relay::close_postgres&) { close_postgres(); },
                          [this](const relay::finish_postgres&) {
                              asio::co_spawn(io_, finish_postgres(postgres_), asio::detached);
                          },
                          [this](relay::store_dead_letter& poison) {
                              asio::co_spawn(io_, set_aside(poison.epoch, std::move(poison.letter)),
                                             asio::detached);
                          },
                          [](const relay::write_log& line) { write_line(line); },
                          [this](const relay::finish& finish) {
                              exit_code_ = finish.exit_code;
                              broker_epoch_ = 0;
                              close_postgres();
                              broker_.reset();
                              io_.stop();
                          }},
               wanted);
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

// PostgreSQL.

asio::awaitable<void> relay_driver::connect_postgres(std::uint64_t epoch) {
    auto earlier_run = earlier_run_;
    auto ready = co_await prepare_postgres(io_.get_executor(), settings_, std::move(earlier_run));
    if (epoch != postgres_epoch_) {
        co_return;
    }
    if (!ready) {
        machine_.postgres_failed(epoch, ready.error(), now());
        settle();
        co_return;
    }
    earlier_run_ = "this relay has streamed from it";
    auto session = std::move(ready->session);
    const auto over = std::make_shared<postgres_link>(io_, epoch, std::move(*ready));
    postgres_ = over;
    machine_.postgres_connected(epoch, std::move(session), now());
    settle();
    // The machine may not want it, after all.
    if (!over->closed) {
        asio::co_spawn(io_, read_stream(over), asio::detached);
        asio::co_spawn(io_, watch_sentinel(over), asio::detached);
    }
}

bool relay_driver::read_what_is_here(postgres_link& over) {
    const auto arrived = now();
    while (!over.closed && machine_.wants_frames()) {
        const auto frame = over.stream.next_frame();
        if (!frame) {
            lose_postgres(over, frame.error());
            return false;
        }
        if (!*frame) {
            break;
        }
        machine_.frame_arrived(**frame, arrived);
    }
    settle();
    return !over.closed;
}

asio::awaitable<void> relay_driver::read_stream(std::shared_ptr<postgres_link> over) {
    while (!over->finishing && read_what_is_here(*over)) {
        if (!machine_.wants_frames()) {
            // Not reading is what makes the server wait.
            over->parked = true;
            over->resumed.expires_at(asio::steady_timer::time_point::max());
            co_await over->resumed.async_wait(asio::as_tuple(asio::use_awaitable));
            over->parked = false;
            continue;
        }
        const auto more = co_await over->stream.wait_readable();
        if (!more && !over->finishing) {
            lose_postgres(*over, more.error());
            co_return;
        }
    }
}

asio::awaitable<void> relay_driver::watch_sentinel(std::shared_ptr<postgres_link> over) {
    const auto ended = co_await over->sentinel.closed();
    lose_postgres(*over, ended);
}

asio::awaitable<void> relay_driver::finish_postgres(std::shared_ptr<postgres_link> over) {
    constexpr std::chrono::seconds patience{2};
    if (over) {
        over->finishing = true;
        over->wake_reader();
        over->stream.interrupt();
        co_await over->stream.finish(patience);
    }
    machine_.postgres_finished();
    settle();
}

void relay_driver::lose_postgres(const postgres_link& over, const error& why) {
    if (over.closed || over.finishing) {
        return;
    }
    machine_.postgres_failed(over.epoch, why, now());
    settle();
}

void relay_driver::close_postgres() {
    postgres_epoch_ = 0;
    if (const auto closing = std::exchange(postgres_, nullptr)) {
        closing->closed = true;
        closing->wake_reader();
        closing->stream.close();
        closing->sentinel.close();
    }
}

asio::awaitable<void> relay_driver::set_aside(std::uint64_t epoch, dead_letter letter) {
    // Belongs to the connection whose row it is, and ends with it.
    const auto over = postgres_;
    if (!over || over->epoch != epoch) {
        co_return;
    }
    if (!over->dead_letters) {
        auto opened = co_await open_sql(io_.get_executor(), settings_);
        if (!opened) {
            machine_.dead_letter_failed(epoch, opened.error(), now());
            settle();
            co_return;
        }
        over->dead_letters = std::move(*opened);
    }
    const auto stored = co_await postgres::store_dead_letter(*over->dead_letters, letter);
    if (stored) {
        machine_.dead_letter_stored(epoch, relay::describe(letter), now());
    } else {
        machine_.dead_letter_failed(epoch, stored.error(), now());
    }
    settle();
}

// The broker.

nats::connection_events relay_driver::broker_events(std::uint64_t epoch) {
    return {[this](const nats::reply& answer) {
                machine_.reply_arrived({answer.epoch, answer.index},
                                       relay::parse_publish_reply(answer.body), now());
            },
            [this] { settle(); },
            [this, epoch](const error& why) {
                machine_.broker_failed(epoch, why, now());
                settle();
            }};
}

asio::awaitable<void> relay_driver::connect_broker(relay::connect_broker wanted) {
    const auto epoch = wanted.epoch;
    auto events = broker_events(epoch);
    const auto policy = stream_was_there_ ? missing_stream::report : missing_stream::create;
    auto ready = co_await prepare_broker(io_.get_executor(), blocking_.get_executor(), settings_,
                                         epoch, std::move(events), policy, wanted.look_back);
    if (epoch != broker_epoch_) {
        co_return;
    }
    if (!ready) {
        machine_.broker_failed(epoch, ready.error(), now());
        settle();
        co_return;
    }
    stream_was_there_ = true;
    broker_ = std::move(*ready);
    if (!earlier_run_) {
        earlier_run_ = relay::earlier_run_of(broker_->facts().stream);
    }
    machine_.broker_connected(epoch, broker_->facts(), now());
    settle();
}

}  // namespace walrelay::app
