// A nats-server for a test, and the adapter's coroutines run to their end.
#pragma once

#include "nats/connection.hpp"
#include "support/nats_server.hpp"
#include "support/stream_reader.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace walrelay::test {

class nats_fixture : public testing::Test {
protected:
    nats_fixture();
    ~nats_fixture() override;

    /// Goes over to a server with other settings.
    void use_server(const nats_options& options);

    [[nodiscard]] nats::connect_options options() const;
    /// Its replies and its end are collected in `replies_` and `lost_`.
    [[nodiscard]] result<std::unique_ptr<nats::connection>> open(nats::connect_options how,
                                                                 std::uint64_t epoch = 1);
    /// Only the part that publishes.
    [[nodiscard]] result<std::unique_ptr<nats::publish_link>> open_link(nats::connect_options how);
    [[nodiscard]] result<void> create_stream(nats::connection& over,
                                             nats::stream_definition definition);
    /// What the account may have for a stream of so many replicas; nothing where that is not told.
    [[nodiscard]] std::optional<account_limits> account_of(nats::connection& over,
                                                           std::int64_t replicas);
    /// A connection to the stream S with the subject s.>, which is made first.
    [[nodiscard]] std::unique_ptr<nats::connection> open_with_stream();
    /// Fails the test if `done` does not hold within 30 seconds.
    void run_until(const std::function<bool()>& done);

    [[nodiscard]] static message sample(const std::string& id);

    nats_server& server() { return *server_; }
    stream_reader& reader() { return *reader_; }

    boost::asio::io_context io_;
    boost::asio::thread_pool blocking_{1};
    std::vector<std::pair<std::uint64_t, std::string>> replies_;  // index, body
    bool room_was_made_ = false;
    std::optional<error> lost_;
    std::string stream_info_;

private:
    [[nodiscard]] nats::connection_events events();
    template <class Value>
    [[nodiscard]] result<Value> run(boost::asio::awaitable<result<Value>> task);

    std::unique_ptr<nats_server> server_;
    std::unique_ptr<stream_reader> reader_;
};

}  // namespace walrelay::test
