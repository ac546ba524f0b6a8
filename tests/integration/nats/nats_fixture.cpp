#include "nats_fixture.hpp"

#include <boost/asio/co_spawn.hpp>

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

nats::connection_events nats_fixture::events() {
    return {[this](const nats::reply& answer) {
                replies_.emplace_back(answer.index, std::string(answer.body));
            },
            [] {}, [this] { room_was_made_ = true; }, [this](error why) { lost_ = std::move(why); },
            [this](std::string_view answer) { stream_info_ = answer; }};
}

template <class Value>
result<Value> nats_fixture::run(boost::asio::awaitable<result<Value>> task) {
    std::optional<result<Value>> done;
    boost::asio::co_spawn(io_, std::move(task), [&](std::exception_ptr thrown, result<Value> made) {
        EXPECT_FALSE(thrown);
        done.emplace(std::move(made));
    });
    run_until([&] { return done.has_value(); });
    if (!done) {
        return error{errc::broker_unavailable, "the test waited in vain"};
    }
    return std::move(*done);
}

result<std::unique_ptr<nats::connection>> nats_fixture::open(nats::connect_options how,
                                                             std::uint64_t epoch) {
    return run(nats::connection::open(io_.get_executor(), blocking_.get_executor(), std::move(how),
                                      epoch, events()));
}

result<std::unique_ptr<nats::publish_link>> nats_fixture::open_link(nats::connect_options how) {
    return run(nats::publish_link::open(io_.get_executor(), std::move(how), 1, events()));
}

result<void> nats_fixture::create_stream(nats::connection& over,
                                         nats::stream_definition definition) {
    return run(over.create_stream(std::move(definition)));
}

std::optional<account_limits> nats_fixture::account_of(nats::connection& over,
                                                       std::int64_t replicas) {
    const auto looking = [](nats::connection* at,
                            std::int64_t for_replicas) -> boost::asio::awaitable<result<void>> {
        co_await at->look_at_account(for_replicas);
        co_return result<void>{};
    };
    const auto looked = run(looking(&over, replicas));
    EXPECT_TRUE(looked);
    return over.facts().account;
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
