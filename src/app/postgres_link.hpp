// One connection of the adapter to PostgreSQL and what belongs to it. Only for its .cpp files.
#pragma once

#include "app/postgres_adapter.hpp"
#include "postgres/session/connection.hpp"
#include "postgres/session/replication_stream.hpp"
#include "tasks/backfill/backfill_source.hpp"
#include "tasks/dead_letter/table_writes.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace walrelay::app {

/// A stream, or the rows that come before it, and what belongs to it. Shared with the coroutines
/// that wait on it.
struct postgres_adapter::link final : relay::frame_source, relay::row_source {
    /// Takes the connections out of `ready`, and leaves the rest.
    link(const boost::asio::any_io_executor& loop, const config::settings& settings,
         std::uint64_t of_epoch, ready_postgres& ready)
        : epoch(of_epoch),
          line(ready.session.server.line),
          wal_end(ready.session.server.wal_end),
          stream(std::move(ready.stream)),
          rows(std::move(ready.rows)),
          sentinel(std::move(ready.sentinel)),
          writes(loop, settings),
          resumed(loop),
          checks(loop),
          calls(loop) {}

    std::uint64_t epoch;
    lineage line;
    lsn wal_end;
    /// One of these two.
    std::optional<postgres::replication_stream> stream;
    std::shared_ptr<tasks::backfill_source> rows;
    postgres::connection sentinel;
    tasks::table_writes writes;
    /// To a standby, once it is asked how far it has replayed.
    std::optional<postgres::connection> witness;
    /// Once a table is met that nobody knows.
    std::optional<postgres::connection> onlooker;
    /// Once something was stored.
    std::optional<postgres::connection> for_witness;
    /// What the stream rests on and what the slot takes are asked over it.
    std::optional<postgres::connection> for_facts;
    /// Never fires; cancelled to wake the reader when the window has room again.
    boost::asio::steady_timer resumed;
    /// Until the next look at both servers (self_check).
    boost::asio::steady_timer checks;
    /// Until rows are called next (row_caller).
    boost::asio::steady_timer calls;
    bool parked = false;
    bool finishing = false;
    bool closed = false;

    [[nodiscard]] bool is_over() const { return closed || finishing; }

    [[nodiscard]] result<std::optional<std::string_view>> next_frame() override {
        if (closed) {
            return std::optional<std::string_view>();
        }
        return stream->next_frame();
    }
    [[nodiscard]] bool has_part_of_frame() const override {
        return !closed && stream->has_part_of_frame();
    }
    void let_go() override {
        if (!closed) {
            stream->let_go();
        }
    }
    [[nodiscard]] std::optional<relay::backfill_row> next_row() override {
        return closed ? std::nullopt : rows->next();
    }

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
    /// Nothing wakes it before.
    boost::asio::awaitable<void> rest(std::chrono::microseconds time) {
        resumed.expires_after(time);
        co_await resumed.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    }
    void close() {
        closed = true;
        wake_reader();
        checks.cancel();
        calls.cancel();
        if (stream) {
            stream->close();
        }
        if (rows) {
            rows->close();
        }
        sentinel.close();
        if (witness) {
            witness->close();
        }
        if (onlooker) {
            onlooker->close();
        }
        if (for_facts) {
            for_facts->close();
        }
        if (for_witness) {
            for_witness->close();
        }
        writes.close();
    }
};

}  // namespace walrelay::app
