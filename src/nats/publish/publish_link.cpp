#include "nats/publish/publish_link.hpp"

#include "core/rethrow.hpp"
#include "nats/publish/open_batch.hpp"
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
    /// What the names of batches begin with; empty where there are none.
    std::string batch_name;
    /// In the lines of the socket that are not yet written, as far as it is there.
    open_batch batch;
    publish_line last_of_batch;
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
    [[nodiscard]] result<void> publish(const message& content, publish_terms terms, bool may_batch);
    void end_batch();
    void remember(const message& content, std::size_t line_bytes);
    [[nodiscard]] error refused(std::string_view said) const;
    asio::awaitable<void> keep_alive();
    void take_operations();
    void take(const wire_operation& received);
    void take_message(const wire_operation& received);
    void take_info(std::string_view json);
    void ask_stream();
    void watch_socket();
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
    const auto words = read_reply_words(received.subject.substr(inbox.size()), batch_name);
    // Who sees a publish knows the subject, and could name any number.
    if (words && words->number <= open_batch::messages_max) {
        answer.index = words->index + (words->number > 0 ? words->number - 1 : 0);
        answer.number = words->number;
        answer.ends_batch = words->ends_batch;
        has_acked = true;
        events.on_reply(answer);
    }
}

result<void> publish_link::state::publish(const message& content, publish_terms terms,
                                          bool may_batch) {
    may_batch = may_batch && !batch_name.empty();
    const bool goes_on = may_batch && batch.is_followed_by(terms.index);
    if (!goes_on) {
        end_batch();
    }
    std::string name;
    if (may_batch) {
        name = batch_name + std::to_string(goes_on ? batch.first() : terms.index);
        terms.batch = {name, batch.size() + 1, open_batch::messages_max};
    }
    auto& lines = socket->lines();
    const auto before = lines.size();
    const auto line = append_publish(lines, content, terms);
    remember(content, lines.size() - before - line.payload_bytes);
    if (max_payload_bytes != 0 && line.payload_bytes > max_payload_bytes) {
        lines.resize(before);
        return error{errc::message_refused,
                     "row id " + content.id + " cannot be handed to the broker: its message has " +
                         std::to_string(line.payload_bytes) + " bytes, max_payload is " +
                         std::to_string(max_payload_bytes)};
    }
    if (may_batch) {
        if (goes_on) {
            batch.grow();
        } else {
            batch.begin(terms.index);
        }
        last_of_batch = line;
    }
    if (batch.is_full()) {
        end_batch();
    }
    return {};
}

void publish_link::state::end_batch() {
    if (batch.size() == 1) {
        publish_singly(socket->lines(), last_of_batch, batch.first());
    } else if (batch.size() > 1) {
        nats::end_batch(socket->lines(), last_of_batch);
    }
    batch.end();
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

void publish_link::state::watch_socket() {
    socket->on_writing([held = weak_from_this()] {
        if (const auto self = held.lock()) {
            self->end_batch();
        }
    });
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
    append_subscribe(subscription, inbox + (options.batches ? ">" : "*"), publishes_id);
    auto session = co_await open_session(executor, options, epoch, std::move(subscription));
    if (!session) {
        co_return session.error();
    }
    auto opened = std::make_shared<state>(executor, std::move(options), std::move(*session));
    opened->epoch = epoch;
    opened->inbox = inbox;
    opened->batch_name = opened->options.batches ? new_batch_name() : "";
    opened->events = std::move(events);
    opened->watch_socket();
    asio::co_spawn(executor, opened->read_replies(), rethrow{});
    asio::co_spawn(executor, opened->keep_alive(), rethrow{});
    co_return std::unique_ptr<publish_link>(new publish_link(std::move(opened)));
}

result<void> publish_link::publish(const message& content, std::uint64_t index,
                                   std::optional<std::uint64_t> expected_last_sequence,
                                   bool may_batch) {
    return state_->publish(
        content,
        {.inbox = state_->inbox, .index = index, .expected_last_sequence = expected_last_sequence},
        may_batch);
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
