#include "nats/connection.hpp"

#include "nats/connect_call.hpp"
#include "nats/handles.hpp"
#include "nats/loop_adapter.hpp"
#include "nats/stream_reader.hpp"
#include "nats/watchers.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <charconv>
#include <cstdlib>
#include <utility>

namespace walrelay::nats {

namespace asio = boost::asio;

struct connection::state : std::enable_shared_from_this<state> {
    asio::any_io_executor executor;
    asio::any_io_executor blocking;
    connect_options options;
    std::uint64_t epoch = 0;
    connection_events events;
    broker_facts facts;
    bool over = false;
    /// Set on the executor once the worker thread is done with this object.
    bool ready = false;

    std::shared_ptr<loop_adapter> adapter;
    connection_handle handle;
    subscription_handle replies;
    /// Kept until the connection is closed, see nats/look_back.
    subscription_handle looking_back;
    void* closure = nullptr;
    std::string inbox;  // "_INBOX.<unique>.<epoch>."; an index follows
    std::string reply_subject;
    std::string number;

    void lose(error why);
    void take_replies();
    void take(natsMsg* raw);
    result<void> connect();
    result<void> subscribe();
    result<void> create_stream(const stream_definition& definition);
};

namespace {

constexpr std::size_t digits_max = 20;

template <class Blocking>
asio::awaitable<result<void>> call(Blocking blocking) {
    co_return blocking();
}

/// Runs a blocking call on the worker thread. `blocking` is a named object of the caller: GCC 12
/// destroys a temporary with captures twice when it stands inside a co_await expression.
template <class Blocking>
asio::awaitable<result<void>> on_worker(asio::any_io_executor worker, const Blocking& blocking) {
    co_return co_await asio::co_spawn(worker, call<Blocking>(blocking), asio::use_awaitable);
}

void set_header(natsMsg* into, const char* name, const std::string& value, natsStatus& status) {
    if (status == NATS_OK) {
        status = natsMsgHeader_Set(into, name, value.c_str());
    }
}

void write_number(std::string& into, std::uint64_t number) {
    char digits[digits_max];
    const auto end = std::to_chars(digits, digits + digits_max, number).ptr;
    into.append(digits, end);
}

}  // namespace

void connection::state::lose(error why) {
    if (!std::exchange(over, true)) {
        events.on_lost(std::move(why));
    }
}

result<void> connection::state::connect() {
    auto prepared = prepare_connect(options);
    if (!prepared) {
        return prepared.error();
    }
    natsOptions* const raw_options = prepared->get();
    natsOptions_SetClosedCB(
        raw_options,
        [](natsConnection* connection, void* which) {
            const char* said = nullptr;
            natsConnection_GetLastError(connection, &said);
            error why{errc::broker_lost, "the connection to the broker ended", "",
                      said == nullptr ? "" : said};
            if (auto watched = watchers<state>::instance().find(which)) {
                asio::post(watched->executor, [watched, why] { watched->lose(why); });
            }
        },
        closure);
    natsOptions_SetErrorHandler(
        raw_options,
        [](natsConnection* connection, natsSubscription*, natsStatus failure, void* which) {
            const char* said = nullptr;
            natsConnection_GetLastError(connection, &said);
            error why{failure == NATS_NOT_PERMITTED ? errc::broker_unsuitable : errc::broker_lost,
                      "the broker reports an error", "", said == nullptr ? "" : said};
            if (failure == NATS_NOT_PERMITTED) {
                why.what = "the broker's account may not do what walrelay needs";
                why.remedy =
                    "grant it publish on the subjects, on $JS.API.STREAM.> and on "
                    "$JS.API.CONSUMER.>, and "
                    "subscribe on _INBOX.>";
            }
            if (auto watched = watchers<state>::instance().find(which)) {
                asio::post(watched->executor, [watched, why] { watched->lose(why); });
            }
        },
        closure);
    adapter->install(raw_options);
    natsConnection* raw = nullptr;
    const auto status = natsConnection_Connect(&raw, raw_options);
    if (status != NATS_OK) {
        return connect_failure(status, options);
    }
    handle.reset(raw);
    return subscribe();
}

result<void> connection::state::subscribe() {
    natsInbox* unique = nullptr;
    natsInbox_Create(&unique);
    inbox = std::string(unique) + ".";
    natsInbox_Destroy(unique);
    write_number(inbox, epoch);
    inbox += '.';
    natsSubscription* raw = nullptr;
    const auto status = natsConnection_SubscribeSync(&raw, handle.get(), (inbox + "*").c_str());
    if (status != NATS_OK) {
        return unavailable("the inbox for acks cannot be subscribed to", status);
    }
    replies.reset(raw);
    auto read =
        read_broker(handle.get(), options.stream, options.timeout, options.look_back, looking_back);
    if (!read) {
        return read.error();
    }
    facts = std::move(*read);
    return {};
}

void connection::state::take_replies() {
    // Bounded by what one read of the socket held.
    while (ready && !over) {
        natsMsg* raw = nullptr;
        const auto status = natsSubscription_NextMsg(&raw, replies.get(), 0);
        if (status == NATS_NO_RESPONDERS) {
            lose({errc::broker_unavailable, "nobody serves the subject of a publish: stream " +
                                                options.stream + " is away or has no leader"});
            return;
        }
        if (status != NATS_OK) {
            break;
        }
        take(raw);
    }
    if (ready && !over) {
        events.on_replies_end();
    }
}

void connection::state::take(natsMsg* raw) {
    const message_handle owned(raw);
    const std::string_view subject = natsMsg_GetSubject(raw);
    reply answer{epoch, 0, {}};
    if (subject.size() <= inbox.size()) {
        return;
    }
    const auto digits = subject.substr(inbox.size());
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), answer.index);
    if (parsed.ec != std::errc{}) {
        return;
    }
    answer.body = {natsMsg_GetData(raw), static_cast<std::size_t>(natsMsg_GetDataLength(raw))};
    events.on_reply(answer);
}

result<void> connection::state::create_stream(const stream_definition& definition) {
    if (auto made = make_stream(handle.get(), definition, options.timeout); !made) {
        return made.error();
    }
    auto read = read_broker(handle.get(), definition.name, options.timeout, 0, looking_back);
    if (!read) {
        return read.error();
    }
    facts = std::move(*read);
    return {};
}

connection::connection(std::shared_ptr<state> opened) : state_(std::move(opened)) {}

connection::~connection() {
    state_->over = true;
    state_->adapter->stop();
    watchers<state>::instance().remove(state_->closure);
    asio::post(state_->blocking, [ending = state_] {
        // The subscription last: while the connection is open, ending it would buffer a line that
        // the library then waits half a second to see off (src/conn.c, _close).
        natsConnection_Close(ending->handle.get());
        ending->replies.reset();
        ending->looking_back.reset();
        ending->handle.reset();
    });
}

asio::awaitable<result<std::unique_ptr<connection>>> connection::open(
    asio::any_io_executor executor, asio::any_io_executor blocking, connect_options options,
    std::uint64_t epoch, connection_events events) {
    auto opening = std::make_shared<state>();
    opening->executor = executor;
    opening->blocking = blocking;
    opening->options = std::move(options);
    opening->epoch = epoch;
    opening->events = std::move(events);
    opening->adapter =
        std::make_shared<loop_adapter>(executor, [weak = std::weak_ptr<state>(opening)] {
            if (const auto alive = weak.lock()) {
                alive->take_replies();
            }
        });
    opening->closure = watchers<state>::instance().add(opening);
    std::unique_ptr<connection> made(new connection(opening));
    const auto connect = [opening] { return opening->connect(); };
    const auto connected = co_await on_worker(blocking, connect);
    if (!connected) {
        co_return connected.error();
    }
    opening->ready = true;
    co_return std::move(made);
}

const broker_facts& connection::facts() const {
    return state_->facts;
}

asio::awaitable<result<void>> connection::create_stream(stream_definition definition) {
    const auto create = [creating = state_, definition] {
        return creating->create_stream(definition);
    };
    co_return co_await on_worker(state_->blocking, create);
}

result<void> connection::publish(const message& content, std::uint64_t index,
                                 std::optional<std::uint64_t> expected_last_sequence) {
    auto& here = *state_;
    here.reply_subject.assign(here.inbox);
    write_number(here.reply_subject, index);
    natsMsg* raw = nullptr;
    auto status = natsMsg_Create(&raw, content.subject.c_str(), here.reply_subject.c_str(),
                                 content.body.data(), static_cast<int>(content.body.size()));
    const message_handle owned(raw);
    set_header(raw, "Nats-Msg-Id", content.id, status);
    set_header(raw, "Nats-Expected-Stream", here.options.stream, status);
    if (expected_last_sequence) {
        here.number.clear();
        write_number(here.number, *expected_last_sequence);
        set_header(raw, "Nats-Expected-Last-Sequence", here.number, status);
    }
    for (std::size_t each = 0; each < content.header_count() && status == NATS_OK; ++each) {
        const auto& extra = content.header_at(each);
        set_header(raw, extra.name.c_str(), extra.value, status);
    }
    if (status == NATS_OK) {
        status = natsConnection_PublishMsg(here.handle.get(), raw);
    }
    if (status == NATS_OK) {
        return {};
    }
    return error{status == NATS_MAX_PAYLOAD ? errc::message_refused : errc::broker_lost,
                 "row id " + content.id + " cannot be handed to the broker", "",
                 last_error_text(status)};
}

void connection::flush() {
    state_->adapter->flush();
}

}  // namespace walrelay::nats
