#include "nats/requests/stream_scan.hpp"

#include "nats/requests/connect_call.hpp"
#include "nats/requests/handles.hpp"
#include "nats/requests/stream_reader.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

namespace walrelay::nats {

struct stream_scan::state {
    connect_options options;
    subscription_handle looking_back;  // outlives the connection, see nats/look_back
    connection_handle connection;
    jetstream_handle jetstream;
    stream_facts facts;
    std::uint64_t last_sequence = 0;

    [[nodiscard]] result<void> connect();
    [[nodiscard]] result<void> look();
    [[nodiscard]] error failure(const std::string& what, natsStatus status) const;
    [[nodiscard]] result<consumer_info_handle> make_consumer() const;
    [[nodiscard]] result<subscription_handle> bind(const char* consumer) const;
    [[nodiscard]] result<std::uint64_t> pending(const char* consumer) const;
    using visitor = std::function<result<void>(const scanned_message&)>;
    [[nodiscard]] result<void> read_through(const jsConsumerInfo& consumer, const visitor& visit);
    [[nodiscard]] result<int> read_batch(natsSubscription* from, std::uint64_t wanted,
                                         std::uint64_t& consumed, const visitor& visit);
};

namespace {

struct message_list {
    message_list() = default;
    message_list(const message_list&) = delete;
    message_list& operator=(const message_list&) = delete;
    ~message_list() { natsMsgList_Destroy(&list); }

    natsMsgList list{};
};

/// Deletes the consumer at the end of the reading, whatever ends it.
class consumer_guard {
public:
    consumer_guard(jsCtx* jetstream, const std::string& stream, const char* name)
        : jetstream_(jetstream), stream_(&stream), name_(name) {}
    consumer_guard(const consumer_guard&) = delete;
    consumer_guard& operator=(const consumer_guard&) = delete;
    ~consumer_guard() { js_DeleteConsumer(jetstream_, stream_->c_str(), name_, nullptr, nullptr); }

private:
    jsCtx* jetstream_;
    const std::string* stream_;
    const char* name_;
};

error may_not_read(const connect_options& options, std::string said) {
    const auto& stream = options.stream;
    return {errc::broker_unsuitable, "the broker's account may not read stream " + stream,
            "grant it publish on $JS.API.STREAM.INFO." + stream + ", $JS.API.CONSUMER.CREATE." +
                stream + ", $JS.API.CONSUMER.INFO." + stream + ".*, $JS.API.CONSUMER.MSG.NEXT." +
                stream + ".* and $JS.API.CONSUMER.DELETE." + stream + ".*, and subscribe on " +
                options.inbox_prefix + ".>",
            std::move(said)};
}

}  // namespace

error stream_scan::state::failure(const std::string& what, natsStatus status) const {
    if (auto said = refusal_of(connection.get())) {
        return may_not_read(options, std::move(*said));
    }
    auto why = unavailable(what, status);
    why.code = natsConnection_IsClosed(connection.get()) ? errc::broker_lost : why.code;
    why.remedy = "run the command again; nothing was changed";
    return why;
}

result<consumer_info_handle> stream_scan::state::make_consumer() const {
    constexpr std::chrono::nanoseconds kept_idle = std::chrono::minutes(1);
    jsConsumerConfig config;
    jsConsumerConfig_Init(&config);
    config.AckPolicy = js_AckNone;
    config.DeliverPolicy = js_DeliverByStartSequence;
    config.OptStartSeq = last_sequence + 1;
    config.HeadersOnly = true;
    config.InactiveThreshold = kept_idle.count();
    config.MemoryStorage = true;
    config.Replicas = 1;
    jsConsumerInfo* raw = nullptr;
    jsErrCode code{};
    const auto status =
        js_AddConsumer(&raw, jetstream.get(), options.stream.c_str(), &config, nullptr, &code);
    if (status != NATS_OK) {
        return failure("stream " + options.stream + " cannot be read", status);
    }
    return consumer_info_handle(raw);
}

result<subscription_handle> stream_scan::state::bind(const char* consumer) const {
    jsSubOptions how;
    jsSubOptions_Init(&how);
    how.Stream = options.stream.c_str();
    how.Consumer = consumer;
    // The library compares this with the consumer that it finds.
    how.Config.HeadersOnly = true;
    how.Config.MemoryStorage = true;
    natsSubscription* raw = nullptr;
    const auto status =
        js_PullSubscribe(&raw, jetstream.get(), "", nullptr, nullptr, &how, nullptr);
    if (status != NATS_OK) {
        return failure("stream " + options.stream + " cannot be read", status);
    }
    return subscription_handle(raw);
}

result<std::uint64_t> stream_scan::state::pending(const char* consumer) const {
    jsConsumerInfo* raw = nullptr;
    const auto status = js_GetConsumerInfo(&raw, jetstream.get(), options.stream.c_str(), consumer,
                                           nullptr, nullptr);
    const consumer_info_handle info(raw);
    if (status != NATS_OK) {
        return failure("the reading of stream " + options.stream + " broke off", status);
    }
    return info->NumPending;
}

result<int> stream_scan::state::read_batch(natsSubscription* from, std::uint64_t wanted,
                                           std::uint64_t& consumed, const visitor& visit) {
    constexpr std::uint64_t batch_max = 8192;
    message_list batch;
    const auto status =
        natsSubscription_Fetch(&batch.list, from, static_cast<int>(std::min(wanted, batch_max)),
                               options.timeout.count(), nullptr);
    if (status != NATS_OK && status != NATS_TIMEOUT) {
        return failure("the reading of stream " + options.stream + " broke off", status);
    }
    if (batch.list.Count == 0) {
        // What may not be asked is never answered.
        if (auto said = refusal_of(connection.get())) {
            return may_not_read(options, std::move(*said));
        }
    }
    for (int index = 0; index < batch.list.Count; ++index) {
        natsMsg* const one = batch.list.Msgs[index];
        jsMsgMetaData* raw = nullptr;
        const auto known = natsMsg_GetMetaData(&raw, one);
        const message_data_handle data(raw);
        if (known != NATS_OK || data->Sequence.Consumer != consumed + 1) {
            return error{errc::broker_lost,
                         "messages of stream " + options.stream + " were lost on their way here",
                         "run the command again; nothing was changed"};
        }
        ++consumed;
        last_sequence = data->Sequence.Stream;
        const scanned_message told{last_sequence, natsMsg_GetSubject(one),
                                   header_of(one, "Nats-Msg-Id"),
                                   header_of(one, "Walrelay-Position")};
        if (auto visited = visit(told); !visited) {
            return visited.error();
        }
    }
    return batch.list.Count;
}

result<void> stream_scan::state::read_through(const jsConsumerInfo& consumer,
                                              const visitor& visit) {
    const auto subscription = bind(consumer.Name);
    if (!subscription) {
        return subscription.error();
    }
    std::uint64_t consumed = 0;
    auto left = consumer.NumPending;
    while (left > 0) {
        const auto got = read_batch(subscription->get(), left, consumed, visit);
        if (!got) {
            return got.error();
        }
        left -= std::min(left, static_cast<std::uint64_t>(*got));
        if (*got == 0) {
            // Messages can be deleted while one waits for them.
            const auto now = pending(consumer.Name);
            if (!now) {
                return now.error();
            }
            left = std::min(left, *now);
        }
    }
    return {};
}

result<void> stream_scan::state::connect() {
    auto connected = connect_blocking(options);
    if (!connected) {
        return connected.error();
    }
    connection = std::move(*connected);
    jsOptions how;
    jsOptions_Init(&how);
    how.Wait = options.timeout.count();
    jsCtx* context = nullptr;
    if (const auto status = natsConnection_JetStream(&context, connection.get(), &how);
        status != NATS_OK) {
        return unavailable("JetStream cannot be used", status);
    }
    jetstream.reset(context);
    return {};
}

result<void> stream_scan::state::look() {
    auto read = read_broker(connection.get(), options, looking_back);
    if (!read) {
        auto said = refusal_of(connection.get());
        return said ? may_not_read(options, std::move(*said)) : read.error();
    }
    if (!read->stream) {
        return error{errc::broker_unsuitable,
                     "there is no stream " + options.stream + " on the broker",
                     "set nats.stream to the stream's name; walrelay init creates a missing one"};
    }
    facts = std::move(*read->stream);
    return {};
}

result<stream_scan> stream_scan::open(connect_options options) {
    auto opened = std::make_unique<state>();
    opened->options = std::move(options);
    if (auto connected = opened->connect(); !connected) {
        return connected.error();
    }
    if (auto looked = opened->look(); !looked) {
        return looked.error();
    }
    return stream_scan(std::move(opened));
}

stream_scan::stream_scan(std::unique_ptr<state> opened) : state_(std::move(opened)) {}
stream_scan::stream_scan(stream_scan&&) noexcept = default;
stream_scan& stream_scan::operator=(stream_scan&&) noexcept = default;
stream_scan::~stream_scan() = default;

const stream_facts& stream_scan::facts() const {
    return state_->facts;
}

void stream_scan::begin_at(std::uint64_t sequence) {
    state_->last_sequence = sequence - 1;
}

result<void> stream_scan::read(const std::function<result<void>(const scanned_message&)>& visit) {
    auto consumer = state_->make_consumer();
    if (!consumer) {
        return consumer.error();
    }
    const auto& info = **consumer;
    const consumer_guard deleting(state_->jetstream.get(), state_->options.stream, info.Name);
    return state_->read_through(info, visit);
}

}  // namespace walrelay::nats
