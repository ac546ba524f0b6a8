#include "app/postgres_adapter.hpp"

#include "app/postgres_link.hpp"
#include "core/rethrow.hpp"
#include "log/log.hpp"
#include "servers/halt_gate.hpp"

#include <boost/asio/co_spawn.hpp>

#include <chrono>
#include <utility>

namespace walrelay::app {

namespace asio = boost::asio;

postgres_adapter::postgres_adapter(servers::executors on, const config::settings& settings,
                                   relay::relay_driver& driver, tasks::cleanup& beside,
                                   tasks::position_keeper& keeper)
    : on_(std::move(on)),
      settings_(settings),
      driver_(driver),
      cleanup_(beside),
      keeper_(keeper),
      gate_(settings),
      facts_(settings),
      row_caller_(on_, settings_, driver_) {}

lineage postgres_adapter::line() const {
    return link_ ? link_->line : lineage{};
}

lsn postgres_adapter::wal_end() const {
    return link_ ? link_->wal_end : lsn{};
}

void postgres_adapter::spawn(work what) const {
    asio::co_spawn(on_.loop, std::move(what), rethrow{});
}

postgres_adapter::link_handle postgres_adapter::link_of(std::uint64_t epoch) const {
    return link_ && link_->epoch == epoch ? link_ : nullptr;
}

void postgres_adapter::lose(const link& over, const error& why) {
    if (!over.is_over()) {
        driver_.postgres_failed(over.epoch, why);
    }
}

// Connecting.

void postgres_adapter::connect(const relay::connect_postgres& wanted, relay::known_before known) {
    spawn(make_connection(wanted.epoch, std::move(known)));
}

asio::awaitable<void> postgres_adapter::make_connection(std::uint64_t epoch,
                                                        relay::known_before known) {
    known_before all_known{std::move(known), walsender_};
    auto ready = co_await prepare_postgres(on_, settings_, std::move(all_known), gate_, facts_);
    if (ready && ready->stream) {
        walsender_ = ready->stream->server_process();
    }
    if (!driver_.wants_postgres(epoch)) {
        co_return;
    }
    if (!ready) {
        if (ready.error().code == errc::slot_in_use) {
            spawn(look_at_holder());
        }
        driver_.postgres_failed(epoch, ready.error());
        co_return;
    }
    const auto over = std::make_shared<link>(on_.loop, settings_, epoch, *ready);
    link_ = over;
    auto session = std::move(ready->session);
    auto owner = std::move(ready->owner);
    facts_.begin(std::move(ready->watched), session.plugin, session.origin.system_identifier);
    if (board_ != nullptr) {
        board_->streams_with(session.database, session.plugin);
    }
    driver_.postgres_connected(epoch, std::move(session), std::move(owner));
    if (over->stream && !over->closed) {
        // Not before: a halt that is gone would be passed for a connection that nobody took.
        const auto passed = co_await gate_.streams(over->sentinel);
        if (!passed) {
            lose(*over, passed.error());
        }
    }
    // The machine may not want it, after all.
    if (!over->closed) {
        spawn(over->stream ? read_stream(over) : read_rows(over));
        spawn(watch_sentinel(over));
        if (over->stream) {
            cleanup_.start();
            keeper_.start(over->line.origin.system_identifier, walsender_);
            spawn(check_itself(over));
            spawn(call_rows(over));
        }
        spawn(poll_facts(over));
    }
}

void postgres_adapter::close() {
    cleanup_.pause();
    keeper_.pause();
    if (const auto closing = std::exchange(link_, nullptr)) {
        closing->close();
    }
}

void postgres_adapter::finish() {
    spawn(end_in_order(link_));
}

asio::awaitable<void> postgres_adapter::end_in_order(link_handle over) {
    constexpr std::chrono::seconds patience{2};
    if (over) {
        over->finishing = true;
        over->wake_reader();
        if (over->stream) {
            over->stream->interrupt();
            co_await over->stream->finish(patience);
        }
    }
    driver_.postgres_finished();
}

asio::awaitable<void> postgres_adapter::watch_sentinel(link_handle over) {
    const auto ended = co_await over->sentinel.closed();
    lose(*over, ended);
}

// Reading.

void postgres_adapter::send(const relay::send_status& status) {
    if (link_ && link_->stream) {
        // A failure is told by the reader, which is never far.
        static_cast<void>(link_->stream->send(status.bytes));
    }
}

void postgres_adapter::resume_reading() {
    if (link_) {
        link_->wake_reader();
    }
}

asio::awaitable<void> postgres_adapter::read_stream(link_handle over) {
    while (!over->is_over()) {
        const auto turn = driver_.read_frames(*over);
        if (!turn) {
            lose(*over, turn.error());
            co_return;
        }
        if (over->is_over()) {
            co_return;
        }
        for (const auto& warning : over->stream->take_warnings()) {
            log<"server_warned">("PostgreSQL warns on the replication connection: " + warning,
                                 with<"slot">(settings_.postgres.slot));
        }
        if (*turn == relay::relay_driver::reading::unwanted) {
            // Not reading is what makes the server wait.
            co_await over->park();
            continue;
        }
        if (const auto time = driver_.rest_from_reading(); time.count() > 0) {
            co_await over->rest(time);
        }
        if (over->is_over()) {
            co_return;
        }
        const auto more = co_await over->stream->wait_readable();
        if (!more) {
            lose(*over, more.error());
            co_return;
        }
    }
}

asio::awaitable<void> postgres_adapter::read_rows(link_handle over) {
    while (!over->is_over()) {
        if (driver_.read_rows(*over) == relay::relay_driver::reading::unwanted) {
            if (!over->is_over()) {
                co_await over->park();
            }
            continue;
        }
        if (over->is_over()) {
            co_return;
        }
        const auto more = co_await over->rows->fetch();
        if (!more) {
            lose(*over, more.error());
            co_return;
        }
        if (!*more) {
            driver_.rows_ended();
            co_return;
        }
    }
}

void postgres_adapter::adopt_slot(const relay::adopt_slot& wanted) {
    if (const auto over = link_of(wanted.epoch); over && over->rows) {
        spawn(adopt(over));
    }
}

asio::awaitable<void> postgres_adapter::adopt(link_handle over) {
    const auto adopted = co_await over->rows->adopt();
    if (!adopted) {
        lose(*over, adopted.error());
        co_return;
    }
    gate_.healed();
    driver_.slot_adopted(over->epoch);
}

}  // namespace walrelay::app
