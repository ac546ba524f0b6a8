#include "nats/publish/publish_link.hpp"

#include "core/rethrow.hpp"
#include "nats/session/as_outcome.hpp"
#include "nats/session/connect_error.hpp"
#include "nats/session/inbox.hpp"
#include "nats/session/server_session.hpp"
#include "nats/session/wire_lines.hpp"
#include "nats/session/wire_parser.hpp"
#include "nats/session/wire_socket.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>

#include <charconv>
#include <chrono>
#include <string>
#include <utility>

namespace walrelay::nats {

namespace asio = boost::asio;

namespace {

/// The subscription for the replies to publishes.
constexpr unsigned publishes_id = 1;

}  // namespace

struct publish_link::state : std::enable_shared_from_this<state> {
    state(asio::any_io_executor executor, connect_options how, server_session opened);

    connect_options options;
    std::shared_ptr<wire_socket> socket;
    telling_server server;
    std::string server_name;
    /// It has answered a publish.
    bool has_acked = false;
    asio::steady_timer timer;  // until the next ping
    connection_events events;
    std::uint64_t epoch = 0;
    std::uint64_t max_payload_bytes = 0;
    std::string inbox;  // an index follows
    /// Where the answer to the last question goes, and its subscription; empty where none is
    /// awaited. Each has an inbox of its own: who sees a publish knows where its ack goes, and
    /// could say there whatever he likes.
    std::string answer_inbox;
    unsigned answer_id = publishes_id;
    unsigned pings_unanswered = 0;
    bool told_in_clear = false;
    bool over = false;
    /// The publish with the longest line: where the server ends the connection because of a line,
    /// that one is too long, too.
    struct {
        std::size_t bytes = 0;
        std::string id = {};
        std::size_t subject_bytes = 0;
    } longest = {};

    asio::awaitable<void> read_replies();
    void remember(const message& content, std::size_t line_bytes);
    [[nodiscard]] error refused(std::string_view said) const;
    asio::awaitable<void> keep_alive();
    void take_operations();
    void take(const wire_operation& received);
    void take_message(const wire_operation& received);
    void take_info(std::string_view json);
    void ask_stream();
    void tell_of_room();
    void lose(error why);
};

namespace {

error ended(std::string said) {
    return {errc::broker_lost, "the connection to the broker ended", "", std::move(said)};
}

}  // namespace

publish_link::state::state(asio::any_io_executor executor, connect_options how,
                           server_session opened)
    : options(std::move(how)),
      socket(std::move(opened.socket)),
      server(std::move(opened.server)),
      server_name(std::move(opened.met.name)),
      timer(executor),
      max_payload_bytes(opened.met.max_payload_bytes),
      told_in_clear(opened.told_in_clear) {}

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
            lose(refused(received.text));
            return;
        case wire_verb::info:
            take_info(received.text);
            return;
        default:
            return;  // +OK
    }
}

error publish_link::state::refused(std::string_view said) const {
    if (is_about_a_right(said)) {
        return not_permitted(options, std::string(said));
    }
    if (is_about_a_line(said)) {
        return line_too_long("the publish of row id " + longest.id + ", which takes " +
                                 std::to_string(longest.bytes) + " bytes (its subject " +
                                 std::to_string(longest.subject_bytes) + ")",
                             std::string(said));
    }
    return ended(std::string(said));
}

void publish_link::state::remember(const message& content, std::size_t line_bytes) {
    if (line_bytes > longest.bytes) {
        longest = {line_bytes, content.id, content.subject.size()};
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
    if (!answer_inbox.empty() && received.subject == answer_inbox) {
        answer_inbox.clear();
        events.on_stream_info(received.text);
        return;
    }
    if (!received.subject.starts_with(inbox)) {
        return;
    }
    const auto digits = received.subject.substr(inbox.size());
    const char* const end = digits.data() + digits.size();
    const auto [stop, failure] = std::from_chars(digits.data(), end, answer.index);
    if (failure == std::errc{} && stop == end) {
        has_acked = true;
        events.on_reply(answer);
    }
}

void publish_link::state::ask_stream() {
    auto& lines = socket->lines();
    if (!answer_inbox.empty()) {
        append_unsubscribe(lines, answer_id);
    }
    answer_inbox = new_inbox(options.inbox_prefix) + "info";
    append_request(lines, options.api + ".STREAM.INFO." + options.stream, answer_inbox,
                   ++answer_id);
    socket->flush();
}

/// Of a changed cluster, a server that is about to stop, changed limits. What was checked with a
/// higher limit can be too large now, which only whoever connects again finds out.
void publish_link::state::take_info(std::string_view json) {
    const auto said = parse_greeting(json);
    if (said) {
        learned_servers::shared().learn(options, server, said->others);
    }
    if (said && said->max_payload_bytes != 0 && said->max_payload_bytes < max_payload_bytes) {
        lose({errc::broker_lost,
              "the broker takes smaller messages now: max_payload was lowered from " +
                  std::to_string(max_payload_bytes) + " to " +
                  std::to_string(said->max_payload_bytes)});
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
    if (state_->longest.bytes > 0) {
        learned_servers::shared().acked(state_->server_name, state_->has_acked);
    }
    state_->over = true;
    state_->timer.cancel();
    state_->socket->close();
}

asio::awaitable<result<std::unique_ptr<publish_link>>> publish_link::open(
    asio::any_io_executor executor, connect_options options, std::uint64_t epoch,
    connection_events events) {
    const auto inbox = new_reply_inbox(options.inbox_prefix);
    std::string subscription;
    append_subscribe(subscription, inbox + "*", publishes_id);
    auto session = co_await open_session(executor, options, epoch, std::move(subscription));
    if (!session) {
        co_return session.error();
    }
    auto opened = std::make_shared<state>(executor, std::move(options), std::move(*session));
    opened->epoch = epoch;
    opened->inbox = inbox;
    opened->events = std::move(events);
    opened->tell_of_room();
    asio::co_spawn(executor, opened->read_replies(), rethrow{});
    asio::co_spawn(executor, opened->keep_alive(), rethrow{});
    co_return std::unique_ptr<publish_link>(new publish_link(std::move(opened)));
}

result<void> publish_link::publish(const message& content, std::uint64_t index,
                                   std::optional<std::uint64_t> expected_last_sequence) {
    auto& lines = state_->socket->lines();
    const auto before = lines.size();
    const auto bytes = append_publish(
        lines, content,
        {.inbox = state_->inbox, .index = index, .expected_last_sequence = expected_last_sequence});
    state_->remember(content, lines.size() - before - bytes);
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
        state_->ask_stream();
    }
}

std::uint64_t publish_link::max_payload_bytes() const {
    return state_->max_payload_bytes;
}

const std::string& publish_link::server_name() const {
    return state_->server_name;
}

bool publish_link::told_in_clear() const {
    return state_->told_in_clear;
}

bool publish_link::is_full() const {
    return state_->socket->is_full();
}

}  // namespace walrelay::nats
