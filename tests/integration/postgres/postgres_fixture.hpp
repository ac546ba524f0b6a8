// A server that the tests of this program share, and a database for each of them; runs the
// adapter's coroutines to their end.
#pragma once

#include "postgres/session/connection.hpp"
#include "postgres/session/replication_stream.hpp"
#include "support/postgres_server.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <exception>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace walrelay::test {

class postgres_fixture : public testing::Test {
protected:
    postgres_fixture();
    ~postgres_fixture() override;

    /// Runs it until it is done; throws if that takes a minute.
    template <class Value>
    Value run(boost::asio::awaitable<Value> work);

    /// Lets what is pending go on until `done` holds; fails the test if that takes a minute.
    void run_until(const std::function<bool()>& done);

    /// Starts it and leaves it waiting; its result goes to the handler.
    template <class Value, class Handler>
    void start(boost::asio::awaitable<Value> work, Handler done) {
        boost::asio::co_spawn(context_, deliver(std::move(work), std::move(done)), rethrow);
    }

    [[nodiscard]] postgres::connect_options options(postgres::connection_kind kind) const;
    [[nodiscard]] postgres::connection connect(
        postgres::connection_kind kind = postgres::connection_kind::sql);
    [[nodiscard]] result<postgres::replication_stream> try_stream(postgres::start_options from);
    [[nodiscard]] postgres::replication_stream stream(const postgres::start_options& from);
    /// Reads until a frame holds `wanted`; fails the test after 30 seconds.
    [[nodiscard]] std::string frame_with(postgres::replication_stream& from,
                                         const std::string& wanted);
    /// Reads until the stream ends.
    [[nodiscard]] error end_of(postgres::replication_stream& of);

    /// The table public.events (id bigint, body text), the publication and the slot.
    [[nodiscard]] postgres::start_options make_slot(output_plugin plugin);

    /// Goes over to a server of the test's own; the shared one must not be stopped or set up anew.
    void use_own_server(const postgres_options& options = {});
    [[nodiscard]] postgres_server& server() { return *server_; }

    boost::asio::io_context context_;
    std::string database_;
    std::string slot_;
    std::string publication_ = "published";
    std::optional<postgres_session> writer_;

private:
    template <class Value, class Handler>
    static boost::asio::awaitable<void> deliver(boost::asio::awaitable<Value> work, Handler done) {
        done(co_await std::move(work));
    }
    static void rethrow(std::exception_ptr failure) {
        if (failure) {
            std::rethrow_exception(failure);
        }
    }
    void open_database();
    void drop_slots();

    postgres_server* server_;
    std::optional<postgres_server> own_server_;
};

template <class Value>
Value postgres_fixture::run(boost::asio::awaitable<Value> work) {
    std::optional<Value> outcome;
    start(std::move(work), [&](Value value) { outcome.emplace(std::move(value)); });
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    context_.restart();
    while (!outcome.has_value() && std::chrono::steady_clock::now() < deadline) {
        context_.run_one_until(deadline);
    }
    if (!outcome.has_value()) {
        throw std::runtime_error("an operation on PostgreSQL was not done within a minute");
    }
    return std::move(*outcome);
}

}  // namespace walrelay::test
