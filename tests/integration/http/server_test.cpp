#include "http/server.hpp"

#include "support/http_client.hpp"
#include "unit/http/sample_report.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace walrelay::http {
namespace {

using namespace std::chrono_literals;
using test::http_connection;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr std::chrono::seconds patience{20};

std::string request(const std::string& line, const std::string& host = "127.0.0.1") {
    return line + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n";
}

class HttpServer : public testing::Test {
protected:
    void TearDown() override {
        io_.stop();
        if (loop_.joinable()) {
            loop_.join();
        }
    }

    void start(server_limits limits = {}) {
        auto opened = listener::open("127.0.0.1:0");
        ASSERT_TRUE(opened) << to_string(opened.error());
        listener_ = std::make_unique<listener>(std::move(*opened));
        const auto& address = listener_->address();
        port_ = static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
        server_ = std::make_unique<server>(io_.get_executor(), *listener_,
                                           server_options{{"relay.internal"}, limits},
                                           report_source{[this] {
                                                             ++reports_;
                                                             return sample_report();
                                                         },
                                                         [] { return std::vector<sample>(900); },
                                                         [this] { return state_.load(); }});
        loop_ = std::thread([this] { io_.run(); });
    }

    [[nodiscard]] test::http_answer ask(const std::string& bytes, bool has_body = true) const {
        http_connection connection(port_);
        connection.send(bytes);
        return connection.read(has_body).value_or(test::http_answer{});
    }

    boost::asio::io_context io_{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
        io_.get_executor()};
    std::unique_ptr<listener> listener_;
    std::unique_ptr<server> server_;
    std::uint16_t port_ = 0;
    std::thread loop_;
    std::atomic<int> reports_ = 0;
    std::atomic<std::uint64_t> state_ = 1;
};

TEST_F(HttpServer, AnswersSeveralRequestsOfOneConnection) {
    start();
    http_connection connection(port_);
    for (const auto* const path : {"/healthz", "/metrics", "/status", "/status/history", "/"}) {
        ASSERT_TRUE(connection.send(request("GET " + std::string(path))));
        const auto answer = connection.read();
        ASSERT_TRUE(answer) << path;
        EXPECT_EQ(answer->status, 200) << path;
        EXPECT_FALSE(answer->body.empty()) << path;
    }
}

TEST_F(HttpServer, MakesTheMetricsOnceForAllWhoAskAtOnce) {
    server_limits limits;
    limits.metrics_for = 1h;
    start(limits);
    const auto first = ask(request("GET /metrics"));
    const auto second = ask(request("GET /metrics"));
    EXPECT_EQ(first.body, second.body);
    EXPECT_EQ(reports_, 1);
    state_ = 2;
    (void)ask(request("GET /metrics"));
    EXPECT_EQ(reports_, 2) << "the state is another one";
}

TEST_F(HttpServer, MakesTheMetricsAnewAfterAWhile) {
    server_limits limits;
    limits.metrics_for = 0ms;
    start(limits);
    (void)ask(request("GET /metrics"));
    (void)ask(request("GET /metrics"));
    EXPECT_EQ(reports_, 2);
}

TEST_F(HttpServer, AnswersRequestsThatComeTogether) {
    start();
    http_connection connection(port_);
    ASSERT_TRUE(connection.send(request("GET /healthz") + request("GET /readyz")));
    EXPECT_EQ(connection.read()->body, "ok\n");
    EXPECT_THAT(connection.read()->body, StartsWith("ready"));
}

TEST_F(HttpServer, SaysTheLengthWithoutTheBodyToAHead) {
    start();
    http_connection connection(port_);
    ASSERT_TRUE(connection.send(request("HEAD /healthz") + request("GET /healthz")));
    const auto head = connection.read(false);
    ASSERT_TRUE(head);
    EXPECT_EQ(head->status, 200);
    EXPECT_TRUE(head->has_header("Content-Length: 3"));
    const auto next = connection.read();
    ASSERT_TRUE(next);
    EXPECT_EQ(next->body, "ok\n");
}

TEST_F(HttpServer, KeepsPagesOfElsewhereOut) {
    start();
    const auto answer = ask(request("GET /"));
    EXPECT_THAT(answer.headers, HasSubstr("Content-Security-Policy: default-src 'none';"));
    EXPECT_THAT(answer.headers, HasSubstr("frame-ancestors 'none'"));
    EXPECT_TRUE(answer.has_header("X-Content-Type-Options: nosniff"));
    EXPECT_TRUE(answer.has_header("Cache-Control: no-store"));
    EXPECT_EQ(answer.headers.find("Access-Control"), std::string::npos);
}

TEST_F(HttpServer, TakesOnlyGetAndHead) {
    start();
    for (const auto* const method : {"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "BREW"}) {
        const auto answer = ask(request(std::string(method) + " /status"));
        EXPECT_EQ(answer.status, 405) << method;
        EXPECT_TRUE(answer.has_header("Allow: GET, HEAD")) << method;
    }
}

TEST_F(HttpServer, RefusesOtherHosts) {
    start();
    EXPECT_EQ(ask(request("GET /status", "relay.internal:80")).status, 200);
    EXPECT_EQ(ask(request("GET /status", "evil.example")).status, 421);
    EXPECT_EQ(ask(request("GET /status", "127.0.0.1.evil.example")).status, 421);
    EXPECT_EQ(ask("GET /status HTTP/1.1\r\n\r\n").status, 400);
    EXPECT_EQ(ask("GET /status HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\n\r\n").status, 400);
    EXPECT_EQ(ask(request("GET http://localhost/status")).status, 400);
}

TEST_F(HttpServer, RefusesBodies) {
    start();
    EXPECT_EQ(
        ask("GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nbody").status,
        400);
    EXPECT_EQ(ask("GET /healthz HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: "
                  "chunked\r\n\r\n0\r\n\r\n")
                  .status,
              400);
}

TEST_F(HttpServer, SaysWhatIsNoRequest) {
    start();
    EXPECT_EQ(ask("nonsense\r\n\r\n").status, 400);
    EXPECT_EQ(ask(std::string("\x16\x03\x01\x02\x00\x01", 6) + std::string(100, '\n')).status, 400);
    EXPECT_EQ(ask(request("GET /nothing")).status, 404);
}

TEST_F(HttpServer, LimitsTheHeaders) {
    start();
    const auto long_one =
        "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(10'000, 'x') + "\r\n\r\n";
    EXPECT_EQ(ask(long_one).status, 431);
    EXPECT_EQ(ask(request("GET /healthz")).status, 200);
}

TEST_F(HttpServer, EndsAConnectionThatIsSlowWithItsRequest) {
    start({.request_time = 200ms});
    http_connection silent(port_);
    http_connection slow(port_);
    ASSERT_TRUE(slow.send("GET /healthz HTTP/1.1\r\nHo"));
    // Others are answered meanwhile.
    EXPECT_EQ(ask(request("GET /healthz")).status, 200);
    EXPECT_TRUE(silent.is_closed_within(patience));
    EXPECT_TRUE(slow.is_closed_within(patience));
}

TEST_F(HttpServer, EndsAnIdleConnection) {
    start({.idle_time = 200ms});
    http_connection connection(port_);
    ASSERT_TRUE(connection.send(request("GET /healthz")));
    ASSERT_TRUE(connection.read());
    EXPECT_TRUE(connection.is_closed_within(patience));
}

TEST_F(HttpServer, EndsAConnectionThatTakesNoAnswer) {
    start({.request_time = 200ms});
    http_connection connection(port_);
    std::string many;
    constexpr int more_than_the_sockets_hold = 2000;
    for (int count = 0; count < more_than_the_sockets_hold; ++count) {
        many += request("GET /status/history");
    }
    std::ignore = connection.send(many.substr(0, 60'000));
    EXPECT_EQ(ask(request("GET /healthz")).status, 200);
    EXPECT_TRUE(connection.is_closed_within(patience));
}

TEST_F(HttpServer, ClosesTheOneThatIsIdleForLongestForANewOne) {
    start({.connections = 3});
    std::vector<std::unique_ptr<http_connection>> open;
    for (int count = 0; count < 3; ++count) {
        open.push_back(std::make_unique<http_connection>(port_));
        ASSERT_TRUE(open.back()->send(request("GET /healthz")));
        ASSERT_TRUE(open.back()->read());
    }
    // The first one has asked last now.
    ASSERT_TRUE(open[0]->send(request("GET /healthz")));
    ASSERT_TRUE(open[0]->read());
    EXPECT_EQ(ask(request("GET /healthz")).status, 200);
    EXPECT_TRUE(open[1]->is_closed_within(patience));
    ASSERT_TRUE(open[0]->send(request("GET /healthz")));
    EXPECT_TRUE(open[0]->read());
}

TEST_F(HttpServer, AnswersInTheMidstOfVeryManyConnections) {
    start();
    std::vector<std::unique_ptr<http_connection>> open;
    constexpr int many = 300;
    for (int count = 0; count < many; ++count) {
        open.push_back(std::make_unique<http_connection>(port_));
        std::ignore = open.back()->send("GET /");
    }
    EXPECT_EQ(ask(request("GET /healthz")).status, 200);
}

TEST_F(HttpServer, GoesOnAfterClientsThatVanish) {
    start();
    for (int count = 0; count < 100; ++count) {
        http_connection connection(port_);
        std::ignore = connection.send(request("GET /status/history"));
    }
    EXPECT_EQ(ask(request("GET /healthz")).status, 200);
}

TEST_F(HttpServer, KeepsThePortForTheNextServer) {
    start();
    EXPECT_EQ(ask(request("GET /healthz")).status, 200);
    io_.stop();
    loop_.join();
    server_.reset();
    boost::asio::io_context next(1);
    http_connection early(port_);
    ASSERT_TRUE(early.send(request("GET /healthz")));
    const server again(next.get_executor(), *listener_, {},
                       {[] { return sample_report(); }, [] { return std::vector<sample>(); }});
    std::thread loop([&next] { next.run(); });
    const auto answer = early.read();
    next.stop();
    loop.join();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 200);
}

TEST(HttpListener, SaysThatAPortIsTaken) {
    const auto first = listener::open("127.0.0.1:0");
    ASSERT_TRUE(first);
    const auto second = listener::open(first->address());
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, errc::configuration_invalid);
    EXPECT_THAT(second.error().what, HasSubstr(first->address()));
    EXPECT_THAT(second.error().remedy, HasSubstr("http.listen"));
}

TEST(HttpListener, TakesAddressesAlone) {
    for (const auto* const text : {"", "127.0.0.1", "localhost:0", "1.2.3:0", "::1:0", "[::1]:x",
                                   "[127.0.0.1]:0", "256.0.0.1:0"}) {
        EXPECT_FALSE(listener::open(text)) << text;
    }
    const auto everywhere = listener::open("0.0.0.0:0");
    ASSERT_TRUE(everywhere);
    EXPECT_FALSE(everywhere->is_loopback());
}

}  // namespace
}  // namespace walrelay::http
