#include "nats/publish_link.hpp"

#include "core/rethrow.hpp"
#include "nats/connect_error.hpp"
#include "nats/inbox.hpp"
#include "nats/log_in.hpp"
#include "nats/tls_context.hpp"
#include "nats/wire_lines.hpp"
#include "nats/wire_parser.hpp"
#include "nats/wire_socket.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <string>
#include <utility>

namespace walrelay::nats {

namespace asio = boost::asio;

struct publish_link::state : std::enable_shared_from_this<state> {
    state(asio::any_io_executor executor, connect_options how, secrets proofs);

    connect_options options;
    secrets known;
    std::shared_ptr<wire_socket> socket;
    asio::steady_timer timer;  // first until the log-in is done, then until the next ping
    connection_events events;
    std::uint64_t epoch = 0;
    std::uint64_t max_payload_bytes = 0;
    std::string inbox;  // an index follows, or info_word
    unsigned pings_unanswered = 0;
    bool expired = false;
    bool over = false;

    asio::awaitable<result<void>> join(server_address server);
    asio::awaitable<result<void>> log_in(server_address server);
    asio::awaitable<result<void>> go_over_to_tls(server_address server);
    asio::awaitable<result<void>> await_welcome();
    asio::awaitable<result<wire_operation>> next_operation();
    void start_clock();
    [[nodiscard]] error refusal(std::string_view said) const;

    asio::awaitable<void> read_replies();
    asio::awaitable<void> keep_alive();
    void take_operations();
    void take(const wire_operation& received);
    void take_message(const wire_operation& received);
    void tell_of_room();
    void lose(error why);
};

namespace {

// The end of the inbox that is no number of a publish.
constexpr std::string_view info_word = "info";

constexpr auto as_outcome = asio::as_tuple(asio::use_awaitable);

bool contains_ignoring_case(std::string_view text, std::string_view lower_case) {
    const auto same = [](char left, char right) {
        return (left >= 'A' && left <= 'Z' ? static_cast<char>(left - 'A' + 'a') : left) == right;
    };
    return std::search(text.begin(), text.end(), lower_case.begin(), lower_case.end(), same) !=
           text.end();
}

bool is_about_a_right(std::string_view said) {
    return contains_ignoring_case(said, "permissions violation");
}

error ended(std::string said) {
    return {errc::broker_lost, "the connection to the broker ended", "", std::move(said)};
}

}  // namespace

publish_link::state::state(asio::any_io_executor executor, connect_options how, secrets proofs)
    : options(std::move(how)),
      known(std::move(proofs)),
      socket(std::make_shared<wire_socket>(executor)),
      timer(executor) {}

// Getting in.

void publish_link::state::start_clock() {
    timer.expires_after(options.timeout);
    timer.async_wait([held = weak_from_this()](const boost::system::error_code& cancelled) {
        const auto self = held.lock();
        if (!cancelled && self) {
            self->expired = true;
            self->socket->close();
        }
    });
}

asio::awaitable<result<void>> publish_link::state::join(server_address server) {
    const auto self = shared_from_this();
    start_clock();
    auto done = co_await log_in(server);
    timer.cancel();
    if (!done && expired) {
        co_return unreachable(options, to_string(server) + " does not answer in time");
    }
    co_return done;
}

asio::awaitable<result<void>> publish_link::state::log_in(server_address server) {
    const auto failure = co_await socket->reach(server);
    if (failure) {
        co_return unreachable(options, to_string(server) + ": " + failure.message());
    }
    const auto first = co_await next_operation();
    if (!first) {
        co_return first.error();
    }
    const auto met = parse_greeting(first->verb == wire_verb::info ? first->text : "");
    if (!met) {
        co_return unreachable(options, met.error().what);
    }
    max_payload_bytes = met->max_payload_bytes;
    const bool wants_tls = server.tls || !options.tls_ca.empty() || !options.tls_cert.empty();
    if (wants_tls && !met->tls_required && !met->tls_available) {
        co_return without_tls(options, to_string(server) + " does not speak TLS");
    }
    const bool tls = wants_tls || met->tls_required;
    if (tls) {
        auto secured = co_await go_over_to_tls(server);
        if (!secured) {
            co_return secured;
        }
    }
    const auto line = connect_line(*met, server, known, tls);
    if (!line) {
        co_return line.error();
    }
    socket->lines() += *line;
    append_subscribe(socket->lines(), inbox + "*", 1);
    socket->lines() += ping_line;
    socket->flush();
    co_return co_await await_welcome();
}

asio::awaitable<result<void>> publish_link::state::go_over_to_tls(server_address server) {
    auto context = make_tls_context(options);
    if (!context) {
        co_return context.error();
    }
    if (!socket->unread().empty()) {
        co_return unreachable(options, "bytes in the clear where TLS was to begin");
    }
    const auto failure = co_await socket->secure(std::move(*context), server.host);
    if (failure) {
        co_return without_tls(options, to_string(server) + ": " + failure.message());
    }
    co_return result<void>{};
}

/// Until the PONG, which says that all before it was taken.
asio::awaitable<result<void>> publish_link::state::await_welcome() {
    for (;;) {
        const auto answer = co_await next_operation();
        if (!answer) {
            co_return answer.error();
        }
        if (answer->verb == wire_verb::err) {
            co_return refusal(answer->text);
        }
        if (answer->verb == wire_verb::pong) {
            co_return result<void>{};
        }
        if (answer->verb == wire_verb::ping) {
            socket->lines() += pong_line;
            socket->flush();
        }
    }
}

asio::awaitable<result<wire_operation>> publish_link::state::next_operation() {
    for (;;) {
        auto rest = socket->unread();
        const auto found = take_operation(rest);
        if (found.verb == wire_verb::malformed) {
            co_return unreachable(options, "the answer is not NATS's protocol");
        }
        if (found.verb != wire_verb::incomplete) {
            socket->consume(socket->unread().size() - rest.size());
            co_return found;
        }
        const auto failure = co_await socket->read_more();
        if (failure) {
            co_return unreachable(options, failure.message());
        }
    }
}

error publish_link::state::refusal(std::string_view said) const {
    if (is_about_a_right(said)) {
        return not_permitted(options, std::string(said));
    }
    const bool log_in =
        contains_ignoring_case(said, "auth") || contains_ignoring_case(said, "revoked");
    return log_in ? log_in_refused(options, std::string(said))
                  : unreachable(options, std::string(said));
}

// Going on.

asio::awaitable<void> publish_link::state::read_replies() {
    const auto self = shared_from_this();
    while (!over) {
        const auto failure = co_await socket->read_more();
        if (failure) {
            lose(ended(failure.message()));
        }
        take_operations();
        if (!over) {
            events.on_replies_end();
        }
    }
}

asio::awaitable<void> publish_link::state::keep_alive() {
    constexpr std::chrono::seconds interval{5};
    constexpr unsigned unanswered_max = 2;
    const auto self = shared_from_this();
    while (!over) {
        timer.expires_after(interval);
        const auto [cancelled] = co_await timer.async_wait(as_outcome);
        if (cancelled || over) {
            co_return;
        }
        if (++pings_unanswered > unanswered_max) {
            lose(ended("it does not answer any more"));
            co_return;
        }
        socket->lines() += ping_line;
        socket->flush();
    }
}

void publish_link::state::take_operations() {
    while (!over) {
        auto rest = socket->unread();
        const auto found = take_operation(rest);
        if (found.verb == wire_verb::incomplete) {
            return;
        }
        if (found.verb == wire_verb::malformed) {
            lose(ended("not NATS's protocol: " + std::string(found.text)));
            return;
        }
        socket->consume(socket->unread().size() - rest.size());
        take(found);
    }
}

void publish_link::state::take(const wire_operation& received) {
    switch (received.verb) {
        case wire_verb::message:
            take_message(received);
            return;
        case wire_verb::ping:
            socket->lines() += pong_line;
            socket->flush();
            return;
        case wire_verb::pong:
            pings_unanswered = 0;
            return;
        case wire_verb::err:
            lose(is_about_a_right(received.text)
                     ? not_permitted(options, std::string(received.text))
                     : ended(std::string(received.text)));
            return;
        default:
            return;  // INFO of a changed cluster, +OK
    }
}

void publish_link::state::take_message(const wire_operation& received) {
    constexpr unsigned no_responders = 503;
    if (status_of(received) == no_responders) {
        lose({errc::broker_unavailable, "nobody serves the subject of a publish: stream " +
                                            options.stream + " is away or has no leader"});
        return;
    }
    reply answer{epoch, 0, received.text};
    if (!received.subject.starts_with(inbox)) {
        return;
    }
    const auto digits = received.subject.substr(inbox.size());
    const char* const end = digits.data() + digits.size();
    const auto [stop, failure] = std::from_chars(digits.data(), end, answer.index);
    if (failure == std::errc{} && stop == end) {
        events.on_reply(answer);
    } else if (digits == info_word) {
        events.on_stream_info(received.text);
    }
}

void publish_link::state::tell_of_room() {
    socket->on_room([held = weak_from_this()] {
        const auto self = held.lock();
        if (self && !self->over) {
            self->events.on_room();
        }
    });
}

void publish_link::state::lose(error why) {
    if (!std::exchange(over, true)) {
        timer.cancel();
        socket->close();
        events.on_lost(std::move(why));
    }
}

publish_link::publish_link(std::shared_ptr<state> opened) : state_(std::move(opened)) {}

publish_link::~publish_link() {
    state_->over = true;
    state_->timer.cancel();
    state_->socket->close();
}

asio::awaitable<result<std::unique_ptr<publish_link>>> publish_link::open(
    asio::any_io_executor executor, connect_options options, std::uint64_t epoch,
    connection_events events) {
    const auto known = read_secrets(options);
    if (!known) {
        co_return known.error();
    }
    error last = unreachable(options, "nats.urls is empty");
    for (std::size_t tried = 0; tried < options.urls.size(); ++tried) {
        auto server = parse_server_address(options.urls[(epoch + tried) % options.urls.size()]);
        if (!server) {
            co_return server.error();
        }
        auto joining = std::make_shared<state>(executor, options, *known);
        joining->epoch = epoch;
        joining->inbox = new_inbox(options.inbox_prefix, epoch);
        const auto joined = co_await joining->join(std::move(*server));
        if (joined) {
            joining->events = std::move(events);
            joining->tell_of_room();
            asio::co_spawn(executor, joining->read_replies(), rethrow{});
            asio::co_spawn(executor, joining->keep_alive(), rethrow{});
            co_return std::unique_ptr<publish_link>(new publish_link(std::move(joining)));
        }
        last = joined.error();
    }
    co_return last;
}

result<void> publish_link::publish(const message& content, std::uint64_t index,
                                   std::optional<std::uint64_t> expected_last_sequence) {
    auto& lines = state_->socket->lines();
    const auto before = lines.size();
    const auto bytes = append_publish(lines, content,
                                      {.inbox = state_->inbox,
                                       .index = index,
                                       .stream = state_->options.stream,
                                       .expected_last_sequence = expected_last_sequence});
    if (state_->max_payload_bytes != 0 && bytes > state_->max_payload_bytes) {
        lines.resize(before);
        return error{errc::message_refused,
                     "row id " + content.id + " cannot be handed to the broker: its message has " +
                         std::to_string(bytes) + " bytes, max_payload is " +
                         std::to_string(state_->max_payload_bytes)};
    }
    return {};
}

void publish_link::flush() {
    if (!state_->over) {
        state_->socket->flush();
    }
}

void publish_link::ask_stream() {
    if (!state_->over) {
        append_request(state_->socket->lines(), "$JS.API.STREAM.INFO." + state_->options.stream,
                       state_->inbox, info_word);
        state_->socket->flush();
    }
}

bool publish_link::is_full() const {
    return state_->socket->is_full();
}

}  // namespace walrelay::nats
