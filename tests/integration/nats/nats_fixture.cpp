#include "nats_fixture.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <chrono>

namespace walrelay::test {

nats_fixture::nats_fixture() : server_(std::make_unique<nats_server>()) {}

nats_fixture::~nats_fixture() {
    blocking_.join();
    io_.poll();
}

void nats_fixture::use_server(const nats_options& options) {
    server_ = std::make_unique<nats_server>(options);
}

nats::connect_options nats_fixture::options() const {
    nats::connect_options how;
    how.urls = {server_->url()};
    how.stream = "S";
    return how;
}

boost::asio::awaitable<void> nats_fixture::keep_result(
    nats::connect_options how, std::uint64_t epoch,
    std::optional<result<std::unique_ptr<nats::connection>>>& into) {
    nats::connection_events events{[this](const nats::reply& answer) {
                                       replies_.emplace_back(answer.index,
                                                             std::string(answer.body));
                                   },
                                   [] {}, [this](error why) { lost_ = std::move(why); }};
    auto opened = co_await nats::connection::open(io_.get_executor(), blocking_.get_executor(),
                                                  std::move(how), epoch, std::move(events));
    into.emplace(std::move(opened));
}

result<std::unique_ptr<nats::connection>> nats_fixture::open(nats::connect_options how,
                                                             std::uint64_t epoch) {
    std::optional<result<std::unique_ptr<nats::connection>>> opened;
    boost::asio::co_spawn(io_, keep_result(std::move(how), epoch, opened), boost::asio::detached);
    run_until([&] { return opened.has_value(); });
    if (!opened) {
        return error{errc::broker_unavailable, "the test waited in vain"};
    }
    return std::move(*opened);
}

std::unique_ptr<nats::connection> nats_fixture::open_with_stream() {
    reader_ = std::make_unique<stream_reader>(server_->url());
    reader_->create({.name = "S", .subjects = {"s.>"}});
    auto opened = open(options());
    EXPECT_TRUE(opened) << to_string(opened.error());
    return opened ? std::move(*opened) : nullptr;
}

void nats_fixture::run_until(const std::function<bool()>& done) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!done()) {
        io_.restart();
        io_.run_one_for(std::chrono::milliseconds(50));
        if (std::chrono::steady_clock::now() > end) {
            ADD_FAILURE() << "waited in vain";
            return;
        }
    }
}

message nats_fixture::sample(const std::string& id) {
    message filled;
    filled.id = id;
    filled.subject = "s.a";
    filled.body = "body of " + id;
    filled.add_header("Content-Type", "text/plain");
    return filled;
}

}  // namespace walrelay::test
