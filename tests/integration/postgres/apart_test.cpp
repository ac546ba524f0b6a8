// Calls on a thread of their own, and what the event loop says of descriptors meanwhile.
#include "postgres/session/apart.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

#include <sys/eventfd.h>

#include <array>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>

namespace walrelay::postgres {
namespace {

namespace asio = boost::asio;
using asio::posix::stream_descriptor;
using namespace std::chrono_literals;

/// Two sockets that are ready in the same round of the loop: who is called for the first of them
/// closes the second, and calls something apart, for which the loop uses what it kept of the
/// second.
class TwoReadySockets : public testing::Test {
protected:
    TwoReadySockets() {
        for (auto& each : sockets_) {
            each = std::make_unique<stream_descriptor>(loop_, ::eventfd(1, EFD_CLOEXEC));
            asio::co_spawn(loop_, use(*each), asio::detached);
        }
    }
    asio::awaitable<void> use(stream_descriptor& socket) {
        co_await socket.async_wait(stream_descriptor::wait_read,
                                   asio::as_tuple(asio::use_awaitable));
        if (ended_in_time_ || is_first_over_) {
            co_return;
        }
        is_first_over_ = true;
        for (auto& each : sockets_) {
            each->close();
        }
        const auto go = std::make_shared<std::promise<void>>();
        const std::function<void()> call = [go] { go->get_future().wait(); };
        asio::post(loop_, [go, this] { asio::post(loop_, [go] { go->set_value(); }); });
        ended_in_time_ =
            co_await run_apart(loop_.get_executor(), call, std::chrono::steady_clock::now() + 60s);
    }

    asio::io_context loop_;
    std::array<std::unique_ptr<stream_descriptor>, 2> sockets_;
    bool is_first_over_ = false;
    std::optional<bool> ended_in_time_;
};

TEST_F(TwoReadySockets, DoNotEndTheWaitForACallApart) {
    loop_.run();
    EXPECT_EQ(ended_in_time_, true);
}

}  // namespace
}  // namespace walrelay::postgres
