// The relay driver's dealings with PostgreSQL: connecting, reading, setting rows aside, ending.

#include "app/broker_side.hpp"
#include "app/clock.hpp"
#include "app/postgres_link.hpp"
#include "app/relay_driver.hpp"
#include "app/roll_taking.hpp"
#include "core/rethrow.hpp"
#include "postgres/inspector.hpp"

#include <boost/asio/co_spawn.hpp>

#include <chrono>
#include <utility>

namespace walrelay::app {

namespace asio = boost::asio;

asio::awaitable<void> relay_driver::connect_postgres(relay::connect_postgres wanted) {
    const auto epoch = wanted.epoch;
    const auto on = where_to_run();
    known_before known{earlier_run_, wanted.gap,       stream_description_,
                       roll_is_due_, goes_on_without_, walsender_};
    auto ready = co_await prepare_postgres(on, settings_, std::move(known), gate_);
    if (ready && ready->stream) {
        walsender_ = ready->stream->server_process();
    }
    if (epoch != postgres_epoch_) {
        co_return;
    }
    if (!ready) {
        machine_.postgres_failed(epoch, ready.error(), now());
        settle();
        co_return;
    }
    if (ready->stream) {
        earlier_run_ = relay::earlier_run{"this relay has streamed from it"};
        roll_is_due_.reset();
        roll_was_called_ = true;
    }
    owner_ = ready->owner;
    auto session = std::move(ready->session);
    if (board_ != nullptr) {
        board_->streams_with(session.database, session.plugin);
    }
    const auto over = std::make_shared<postgres_link>(io_, settings_, epoch, std::move(*ready));
    postgres_ = over;
    machine_.postgres_connected(epoch, std::move(session), now());
    settle();
    // The machine may not want it, after all.
    if (!over->closed) {
        asio::co_spawn(io_, over->stream ? read_stream(over) : read_rows(over), rethrow{});
        asio::co_spawn(io_, watch_sentinel(over), rethrow{});
        if (over->stream) {
            cleanup_.start();
        }
        if (board_ != nullptr) {
            asio::co_spawn(io_, poll_facts(over), rethrow{});
        }
    }
}

asio::awaitable<void> relay_driver::look_for_rows(relay::look_for_rows wanted) {
    const auto on = where_to_run();
    const auto missing = co_await find_missing(on, settings_, std::move(wanted.rows));
    machine_.rows_looked_for(wanted.epoch, missing, now());
    settle();
}

asio::awaitable<void> relay_driver::leave_out(relay::leave_out wanted) {
    const auto kept =
        co_await app::leave_out(io_.get_executor(), settings_, std::move(wanted.rows));
    machine_.rows_left_out(kept);
    settle();
}

asio::awaitable<void> relay_driver::mark_stream(relay::mark_stream wanted) {
    auto marked =
        co_await claim_stream(blocking_.get_executor(), settings_, std::move(wanted.owner),
                              std::move(wanted.to_be), stream_description_);
    if (marked) {
        stream_description_ = std::move(marked->description);
        machine_.stream_marked(marked->last_sequence, now());
    } else {
        machine_.stream_marked(marked.error(), now());
    }
    settle();
}

asio::awaitable<void> relay_driver::read_message(relay::read_message wanted) {
    const auto found =
        co_await message_of_stream(blocking_.get_executor(), settings_, wanted.sequence);
    machine_.message_read(wanted.epoch, found, now());
    settle();
}

asio::awaitable<void> relay_driver::read_stored(relay::read_stored wanted) {
    const auto on = where_to_run();
    const auto rows = co_await app::read_stored(on, settings_, std::move(wanted.wanted));
    machine_.stored_read(wanted.epoch, rows, now());
    settle();
}

bool relay_driver::read_what_is_here(postgres_link& over) {
    const auto arrived = now();
    while (!over.closed && machine_.wants_frames()) {
        const auto frame = over.stream->next_frame();
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
            co_await over->park();
            continue;
        }
        if (const auto time = machine_.rest_from_reading(); time.count() > 0) {
            co_await over->rest(time);
        }
        if (over->finishing) {
            co_return;
        }
        const auto more = co_await over->stream->wait_readable();
        if (!more && !over->finishing) {
            lose_postgres(*over, more.error());
            co_return;
        }
    }
}

asio::awaitable<void> relay_driver::read_rows(std::shared_ptr<postgres_link> over) {
    while (!over->closed && !over->finishing) {
        if (!machine_.wants_rows()) {
            co_await over->park();
            continue;
        }
        if (const auto row = over->rows->next()) {
            machine_.row_arrived(row->table, row->content, row->published, now());
            if (!machine_.wants_rows()) {
                settle();
            }
            continue;
        }
        settle();
        const auto more = co_await over->rows->fetch();
        if (!more) {
            lose_postgres(*over, more.error());
            co_return;
        }
        if (!*more) {
            machine_.rows_ended(now());
            settle();
            co_return;
        }
    }
}

asio::awaitable<void> relay_driver::adopt_slot(std::uint64_t epoch) {
    const auto over = postgres_;
    if (!over || over->epoch != epoch || !over->rows) {
        co_return;
    }
    const auto adopted = co_await over->rows->adopt();
    if (!adopted) {
        lose_postgres(*over, adopted.error());
        co_return;
    }
    earlier_run_ = relay::earlier_run{"this relay has published the rows before it"};
    gate_.healed();
    machine_.slot_adopted(epoch, now());
    settle();
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
        if (over->stream) {
            over->stream->interrupt();
            co_await over->stream->finish(patience);
        }
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
    cleanup_.pause();
    if (const auto closing = std::exchange(postgres_, nullptr)) {
        closing->close();
    }
}

audit::known_history relay_driver::known_history() const {
    return {postgres_ ? postgres_->origin : history{}, machine_.confirmed(),
            settings_.nats.sole_writer};
}

asio::awaitable<void> relay_driver::set_aside(relay::store_dead_letters wanted) {
    // Belongs to the connection whose rows they are, and ends with it.
    const auto over = postgres_;
    if (!over || over->epoch != wanted.epoch) {
        co_return;
    }
    const auto stored = co_await over->writes.set_aside(*wanted.letters);
    if (stored) {
        machine_.dead_letters_stored(wanted.epoch, now());
    } else {
        machine_.dead_letters_failed(wanted.epoch, stored.error(), now());
    }
    settle();
}

asio::awaitable<void> relay_driver::store_halt(relay::store_halt halt) {
    halt_is_kept_ = co_await keep_halt(io_.get_executor(), settings_, std::move(halt.reason),
                                       std::move(halt.fix));
    machine_.halt_stored(now());
    settle();
}

asio::awaitable<void> relay_driver::fetch_row(relay::fetch_row wanted) {
    const auto over = postgres_;
    if (!over || over->epoch != wanted.epoch) {
        co_return;
    }
    auto fetched = co_await over->writes.fetch(wanted);
    if (fetched) {
        machine_.row_fetched(wanted.epoch, std::move(*fetched), now());
    } else {
        machine_.row_not_fetched(wanted.epoch, fetched.error(), now());
    }
    settle();
}

asio::awaitable<void> relay_driver::ask_replayed(std::uint64_t epoch) {
    const auto over = postgres_;
    if (!over || over->epoch != epoch) {
        co_return;
    }
    if (!over->witness) {
        auto opened = co_await open_replication(io_.get_executor(), settings_);
        if (!opened) {
            machine_.replayed(epoch, opened.error(), now());
            settle();
            co_return;
        }
        over->witness = std::move(*opened);
    }
    const auto place = co_await postgres::ask_replayed(*over->witness);
    machine_.replayed(epoch, place, now());
    settle();
}

asio::awaitable<void> relay_driver::write_back(std::uint64_t epoch, relay::write_back_batch rows) {
    const auto over = postgres_;
    if (!over || over->epoch != epoch) {
        co_return;
    }
    const auto done = co_await over->writes.write_back(rows, over->origin);
    if (done) {
        machine_.written_back(epoch, now());
    } else {
        machine_.write_back_failed(epoch, done.error(), now());
    }
    settle();
}

}  // namespace walrelay::app
