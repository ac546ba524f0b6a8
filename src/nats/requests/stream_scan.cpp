#include "nats/requests/stream_scan.hpp"

#include "nats/requests/connect_call.hpp"
#include "nats/requests/handles.hpp"
#include "nats/requests/message_get.hpp"
#include "nats/requests/stream_reader.hpp"
#include "nats/requests/stream_reading.hpp"

#include <simdjson.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace walrelay::nats {

/// A message, by its place and time.
struct stored_at {
    std::uint64_t sequence = 0;
    wall_time time = {};
};

struct stream_scan::state {
    using visitor = std::function<result<void>(const scanned_message&)>;

    connect_options options;
    subscription_handle looking_back;  // these outlive the connection, see nats/look_back
    subscription_handle incoming;
    connection_handle connection;
    std::optional<stream_reading> reading;  // of that connection
    stream_facts facts;
    std::string subject = ">";
    std::uint64_t last_sequence = 0;
    /// Of the sequences that are to be read; nothing: the stream's own.
    std::optional<std::uint64_t> end;
    std::uint64_t read_to = 0;

    [[nodiscard]] result<void> connect();
    [[nodiscard]] result<stream_facts> look();
    [[nodiscard]] result<std::uint64_t> last_of_stream() const;
    /// The first message from this sequence on; nothing where there is none.
    [[nodiscard]] result<std::optional<stored_at>> message_from(std::uint64_t sequence) const;
    [[nodiscard]] jetstream_handle jetstream() const;
    [[nodiscard]] result<void> read_on(std::optional<reading_span>& span,
                                       const message_visitor& visit);
    /// Of an error that is the visitor's nothing is changed.
    [[nodiscard]] error explained(error why, bool is_of_visitor = false) const;
};

namespace {

error may_not_read(const connect_options& options, std::string said) {
    const auto& stream = options.stream;
    const auto& api = options.api;
    return {errc::broker_unsuitable, "the broker's account may not read stream " + stream,
            "grant it publish on " + api + ".STREAM.INFO." + stream + ", " + api +
                ".STREAM.MSG.GET." + stream + ", " + api + ".CONSUMER.CREATE." + stream + ", " +
                api + ".CONSUMER.MSG.NEXT." + stream + ".* and " + api + ".CONSUMER.DELETE." +
                stream + ".*, and subscribe on " + options.inbox_prefix + ".>",
            std::move(said)};
}

error made_again(const std::string& stream) {
    return {errc::broker_unavailable, "stream " + stream + " was made again while it was read",
            "run the command again; nothing was changed"};
}

}  // namespace

error stream_scan::state::explained(error why, bool is_of_visitor) const {
    const bool is_known = !is_of_visitor && connection.get() != nullptr;
    if (auto said = is_known ? refusal_of(connection.get()) : std::nullopt) {
        return may_not_read(options, std::move(*said));
    }
    return why;
}

result<void> stream_scan::state::connect() {
    reading.reset();
    connection = {};
    looking_back.reset();
    incoming.reset();
    auto connected = connect_blocking(options);
    if (!connected) {
        return connected.error();
    }
    connection = std::move(*connected);
    reading.emplace(connection.get(), options, incoming);
    reading->read_only(subject);
    return {};
}

result<stream_facts> stream_scan::state::look() {
    auto read = read_broker(connection.get(), options, looking_back);
    if (!read) {
        return explained(read.error());
    }
    if (!read->stream) {
        return error{errc::broker_unsuitable,
                     "there is no stream " + options.stream + " on the broker",
                     "set nats.stream to the stream's name; walrelay init creates a missing one"};
    }
    return std::move(*read->stream);
}

result<stream_scan> stream_scan::open(connect_options options) {
    auto opened = std::make_unique<state>();
    opened->options = std::move(options);
    if (auto connected = opened->connect(); !connected) {
        return connected.error();
    }
    auto looked = opened->look();
    if (!looked) {
        return looked.error();
    }
    opened->facts = std::move(*looked);
    return stream_scan(std::move(opened));
}

/// Null where there is no memory left, which each request answers as an error.
jetstream_handle stream_scan::state::jetstream() const {
    jsOptions how;
    jsOptions_Init(&how);
    how.Wait = options.timeout.count();
    how.Prefix = options.api.c_str();
    jsCtx* context = nullptr;
    return natsConnection_JetStream(&context, connection.get(), &how) == NATS_OK
               ? jetstream_handle(context)
               : jetstream_handle();
}

result<std::optional<stored_at>> stream_scan::state::message_from(std::uint64_t sequence) const {
    const auto next = next_from(connection.get(), options, sequence);
    if (!next) {
        return next.error();
    }
    if (*next == 0) {
        return std::optional<stored_at>();
    }
    const auto found = message_at(jetstream().get(), options.stream, *next);
    if (!found) {
        return found.error();
    }
    // It was deleted in between: the one after it.
    return *found ? std::optional(stored_at{*next, to_wall_time(natsMsg_GetTime(found->get()))})
                  : message_from(*next + 1);
}

/// As the leader names it.
result<std::uint64_t> stream_scan::state::last_of_stream() const {
    const auto context = jetstream();
    jsStreamInfo* raw = nullptr;
    const auto status =
        js_GetStreamInfo(&raw, context.get(), options.stream.c_str(), nullptr, nullptr);
    const stream_info_handle info(raw);
    if (status != NATS_OK) {
        return unavailable("stream " + options.stream + " cannot be looked at", status);
    }
    if (to_wall_time(info->Created) != facts.created) {
        return made_again(options.stream);
    }
    // A server that knows less than was told before is behind, which the reading finds out.
    return std::max({info->State.LastSeq, facts.last_sequence, read_to});
}

result<void> stream_scan::state::read_on(std::optional<reading_span>& span,
                                         const message_visitor& visit) {
    if (connection.get() == nullptr || natsConnection_IsClosed(connection.get())) {
        if (auto connected = connect(); !connected) {
            return connected;
        }
    }
    const auto last = last_of_stream();
    if (!last) {
        return last.error();
    }
    if (!span) {
        span.emplace(last_sequence + 1, end ? std::min(*last, *end - 1) : *last);
    }
    const auto read = reading->read(*span, visit);
    return read ? result<void>() : read.error();
}

stream_scan::stream_scan(std::unique_ptr<state> opened) : state_(std::move(opened)) {}
stream_scan::stream_scan(stream_scan&&) noexcept = default;
stream_scan& stream_scan::operator=(stream_scan&&) noexcept = default;
stream_scan::~stream_scan() = default;

const stream_facts& stream_scan::facts() const {
    return state_->facts;
}

std::uint64_t stream_scan::read_to() const {
    return state_->read_to;
}

void stream_scan::begin_at(std::uint64_t sequence) {
    state_->last_sequence = sequence - 1;
    state_->end.reset();
}

void stream_scan::read_between(std::uint64_t begin, std::uint64_t end) {
    begin_at(begin);
    state_->end = end;
}

void stream_scan::read_only(const std::string& subject) {
    state_->subject = subject;
    state_->reading->read_only(subject);
}

result<std::uint64_t> stream_scan::first_since(wall_time time) {
    auto first = state_->facts.first_sequence;
    auto end = state_->facts.last_sequence + 1;
    while (first < end) {
        const auto middle = first + (end - first) / 2;
        const auto found = state_->message_from(middle);
        if (!found) {
            return state_->explained(found.error());
        }
        if (*found && (*found)->time < time) {
            first = (*found)->sequence + 1;
        } else {
            end = middle;
        }
    }
    return first;
}

result<std::optional<known_message>> stream_scan::message_of(std::uint64_t sequence) {
    const auto found = message_at(state_->jetstream().get(), state_->options.stream, sequence);
    if (!found) {
        return state_->explained(found.error());
    }
    if (!*found) {
        return std::optional<known_message>();
    }
    auto* const one = found->get();
    return std::optional(known_message{std::string(header_of(one, "Nats-Msg-Id")),
                                       natsMsg_GetSubject(one),
                                       to_wall_time(natsMsg_GetTime(one))});
}

namespace {

/// Several are what nats-server takes since 2.10, and what this library does not read.
result<std::vector<std::string>> filters_of(natsConnection* connection,
                                            const connect_options& options,
                                            const std::string& consumer) {
    const auto subject = options.api + ".CONSUMER.INFO." + options.stream + "." + consumer;
    natsMsg* raw = nullptr;
    const auto status = natsConnection_RequestString(&raw, connection, subject.c_str(), "",
                                                     options.timeout.count());
    const message_handle answer(raw);
    if (status != NATS_OK) {
        return unavailable("the subjects of consumer " + consumer + " cannot be read", status);
    }
    simdjson::dom::parser parser;
    simdjson::dom::object config;
    if (parser
            .parse(natsMsg_GetData(raw),
                   static_cast<std::size_t>(natsMsg_GetDataLength(raw)))["config"]
            .get(config) != simdjson::SUCCESS) {
        return no_answer_of_jetstream("consumer " + consumer);
    }
    std::vector<std::string> subjects;
    std::string_view one;
    if (config["filter_subject"].get(one) == simdjson::SUCCESS && !one.empty()) {
        subjects.emplace_back(one);
    }
    simdjson::dom::array several;
    if (config["filter_subjects"].get(several) == simdjson::SUCCESS) {
        for (const auto each : several) {
            if (each.get(one) == simdjson::SUCCESS) {
                subjects.emplace_back(one);
            }
        }
    }
    return subjects;
}

}  // namespace

result<std::optional<consumer_place>> stream_scan::place_of(const std::string& consumer) {
    const auto context = state_->jetstream();
    jsConsumerInfo* raw = nullptr;
    jsErrCode code{};
    const auto status = js_GetConsumerInfo(&raw, context.get(), state_->options.stream.c_str(),
                                           consumer.c_str(), nullptr, &code);
    const consumer_info_handle info(raw);
    if (status == NATS_NOT_FOUND || code == JSConsumerNotFoundErr) {
        return std::optional<consumer_place>();
    }
    if (status != NATS_OK) {
        return state_->explained(unavailable("consumer " + consumer + " of stream " +
                                                 state_->options.stream + " cannot be looked at",
                                             status));
    }
    if (info->Config == nullptr) {
        return no_answer_of_jetstream("consumer " + consumer);
    }
    auto subjects = filters_of(state_->connection.get(), state_->options, consumer);
    if (!subjects) {
        return state_->explained(subjects.error());
    }
    return std::optional(consumer_place{info->AckFloor.Stream, info->Delivered.Stream,
                                        std::move(*subjects),
                                        info->Config->AckPolicy != js_AckNone});
}

result<void> stream_scan::read(const std::function<result<void>(const scanned_message&)>& visit) {
    constexpr unsigned tries_max = 5;
    auto& here = *state_;
    bool is_stopped = false;
    const message_visitor pass_on = [&](const stream_message& one) -> result<void> {
        here.last_sequence = one.sequence;
        auto visited = visit({one.sequence, natsMsg_GetSubject(one.headers),
                              header_of(one.headers, "Nats-Msg-Id"),
                              header_of(one.headers, "Walrelay-Position"), one.stored});
        is_stopped = !visited;
        return visited;
    };
    std::optional<reading_span> span;
    for (unsigned tries = 0;; ++tries) {
        const auto seen = span ? span->seen : 0;
        auto done = here.read_on(span, pass_on);
        if (done) {
            break;
        }
        tries = span && span->seen > seen ? 0 : tries;
        const bool is_lost =
            here.connection.get() == nullptr || natsConnection_IsClosed(here.connection.get());
        if (is_stopped || !is_lost || tries == tries_max) {
            return here.explained(done.error(), is_stopped);
        }
        wait_before_try(tries + 1);
    }
    here.last_sequence = std::max(here.last_sequence, span->last);
    here.read_to = span->last;
    return {};
}

}  // namespace walrelay::nats
