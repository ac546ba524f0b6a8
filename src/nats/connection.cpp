#include "nats/connection.hpp"

#include "nats/publish/publish_probe.hpp"
#include "nats/requests/account_info.hpp"
#include "nats/requests/connect_call.hpp"
#include "nats/requests/handles.hpp"
#include "nats/requests/stream_reader.hpp"
#include "nats/requests/stream_reading.hpp"
#include "nats/session/server_session.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

namespace walrelay::nats {

namespace asio = boost::asio;

namespace {

struct seen_of_broker {
    broker_facts facts;
    std::string domain = {};
};

result<seen_of_broker> look(const connect_options& options) {
    subscription_handle looking_back;  // outlives the connection, see nats/look_back
    const auto over = connect_blocking(options);
    if (!over) {
        return over.error();
    }
    seen_of_broker seen;
    auto read = read_broker(over->get(), options, looking_back, &seen.domain);
    if (!read) {
        return cause_of(over->get(), options, read.error());
    }
    seen.facts = std::move(*read);
    return seen;
}

result<seen_of_broker> create(connect_options options, const stream_definition& definition) {
    subscription_handle looking_back;
    const auto over = connect_blocking(options);
    if (!over) {
        return over.error();
    }
    if (auto made = make_stream(over->get(), options, definition); !made) {
        return cause_of(over->get(), options, made.error());
    }
    options.stream = definition.name;
    options.look_back = 0;
    options.asks_for = 0;
    seen_of_broker seen;
    auto read = read_broker(over->get(), options, looking_back, &seen.domain);
    if (!read) {
        return read.error();
    }
    seen.facts = std::move(*read);
    return seen;
}

reading_trial read_last(const connect_options& options, std::uint64_t last) {
    constexpr std::uint64_t wanted = 4;
    subscription_handle incoming;
    const auto over = connect_blocking(options);
    if (!over) {
        return {to_string(over.error())};
    }
    reading_span span(last > wanted ? last - wanted + 1 : 1, last);
    stream_reading reading(over->get(), options, incoming);
    const auto read =
        reading.read(span, [](const stream_message& /*one*/) { return result<void>(); });
    if (!read) {
        return {to_string(cause_of(over->get(), options, read.error()))};
    }
    return {"", reading.refused(), span.seen > 1 && reading.batch_size() == 1};
}

asio::awaitable<reading_trial> read_on_worker(connect_options options, std::uint64_t last) {
    co_return read_last(options, last);
}

asio::awaitable<std::optional<account_limits>> look_at_account_on_worker(connect_options options,
                                                                         std::int64_t replicas) {
    // Who may not ask is not answered.
    constexpr std::chrono::milliseconds patience{1000};
    options.timeout = std::min(options.timeout, patience);
    const auto over = connect_blocking(options);
    co_return over ? read_account(over->get(), options, replicas) : std::nullopt;
}

asio::awaitable<result<seen_of_broker>> look_on_worker(connect_options options) {
    co_return look(options);
}

asio::awaitable<result<seen_of_broker>> create_on_worker(connect_options options,
                                                         stream_definition definition) {
    co_return create(std::move(options), definition);
}

}  // namespace

connection::connection(asio::any_io_executor executor, asio::any_io_executor blocking,
                       connect_options options)
    : executor_(std::move(executor)),
      blocking_(std::move(blocking)),
      options_(std::move(options)) {}

connection::~connection() = default;

asio::awaitable<result<std::unique_ptr<connection>>> connection::open(
    asio::any_io_executor executor, asio::any_io_executor blocking, connect_options options,
    std::uint64_t epoch, connection_events events) {
    auto looking = look_on_worker(options);
    auto looked = co_await asio::co_spawn(blocking, std::move(looking), asio::use_awaitable);
    if (!looked) {
        co_return looked.error();
    }
    const auto& stream = looked->facts.stream;
    options.leader = stream ? stream->leader : "";
    auto linked = co_await publish_link::open(executor, options, epoch, std::move(events));
    if (!linked) {
        co_return linked.error();
    }
    std::unique_ptr<connection> made(new connection(executor, blocking, std::move(options)));
    made->facts_ = std::move(looked->facts);
    made->domain_ = std::move(looked->domain);
    made->link_ = std::move(*linked);
    made->add_facts_of_link();
    co_return std::move(made);
}

asio::awaitable<result<void>> connection::create_stream(stream_definition definition) {
    auto creating = create_on_worker(options_, std::move(definition));
    auto created = co_await asio::co_spawn(blocking_, std::move(creating), asio::use_awaitable);
    if (!created) {
        co_return created.error();
    }
    facts_ = std::move(created->facts);
    domain_ = std::move(created->domain);
    add_facts_of_link();
    co_return result<void>{};
}

void connection::add_facts_of_link() {
    facts_.told_in_clear = link_->told_in_clear();
    // The look can have met another server, or this one before its limit was changed.
    if (const auto limit = link_->max_payload_bytes(); limit != 0) {
        facts_.max_payload_bytes = limit;
    }
}

asio::awaitable<result<void>> connection::try_publishes(std::vector<std::string> subjects,
                                                        std::size_t subject_max_bytes) {
    const auto tried =
        co_await nats::try_publishes(executor_, options_, std::move(subjects), subject_max_bytes);
    if (!tried) {
        co_return tried.error();
    }
    facts_.trial = *tried;
    co_return result<void>{};
}

asio::awaitable<void> connection::try_reading() {
    if (facts_.stream) {
        auto reading = read_on_worker(options_, facts_.stream->last_sequence);
        facts_.reading =
            co_await asio::co_spawn(blocking_, std::move(reading), asio::use_awaitable);
    }
}

asio::awaitable<void> connection::look_at_account(std::int64_t replicas) {
    if (!facts_.stream) {
        auto looking = look_at_account_on_worker(options_, replicas);
        facts_.account =
            co_await asio::co_spawn(blocking_, std::move(looking), asio::use_awaitable);
    }
}

result<void> connection::publish(const message& content, std::uint64_t index,
                                 std::optional<std::uint64_t> expected_last_sequence) {
    return link_->publish(content, index, expected_last_sequence);
}

const std::string& connection::server_name() const {
    return link_->server_name();
}

bool connection::may_reach(const std::string& name) const {
    return may_be_reached(options_, name);
}

void connection::flush() {
    link_->flush();
}

bool connection::is_full() const {
    return link_->is_full();
}

}  // namespace walrelay::nats
