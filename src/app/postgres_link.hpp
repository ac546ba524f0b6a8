// The driver's connection to PostgreSQL and what belongs to it. Only for the driver's .cpp files.
#pragma once

#include "app/backfill_source.hpp"
#include "app/postgres_side.hpp"
#include "app/relay_driver.hpp"
#include "postgres/connection.hpp"
#include "postgres/replication_stream.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace walrelay::app {

/// A stream, or the rows that come before it, and what belongs to it. Shared with the coroutines
/// that wait on it.
struct relay_driver::postgres_link {
    postgres_link(boost::asio::io_context& io, std::uint64_t of_epoch, ready_postgres&& ready)
        : epoch(of_epoch),
          stream(std::move(ready.stream)),
          rows(std::move(ready.rows)),
          sentinel(std::move(ready.sentinel)),
          resumed(io) {}

    std::uint64_t epoch;
    /// One of these two.
    std::optional<postgres::replication_stream> stream;
    std::shared_ptr<backfill_source> rows;
    postgres::connection sentinel;
    /// Made when the first dead letter is to be stored.
    std::optional<postgres::connection> dead_letters;
    /// Never fires; cancelled to wake the reader when the window has room again.
    boost::asio::steady_timer resumed;
    bool parked = false;
    bool finishing = false;
    bool closed = false;

    void wake_reader() {
        if (parked) {
            resumed.cancel();
        }
    }
    boost::asio::awaitable<void> park() {
        parked = true;
        resumed.expires_at(boost::asio::steady_timer::time_point::max());
        co_await resumed.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
        parked = false;
    }
    void close() {
        closed = true;
        wake_reader();
        if (stream) {
            stream->close();
        }
        if (rows) {
            rows->close();
        }
        sentinel.close();
    }
};

}  // namespace walrelay::app
