// See stream_reader.hpp.
#include "support/stream_reader.hpp"

#include "support/eventually.hpp"
#include "support/nats_handles.hpp"

#include <stdexcept>

namespace walrelay::test {
namespace {

/// A consumer of its own that starts behind `after` and never asks for acknowledgements. Made by
/// hand, since the client's subscribe call wants a subject and the server one within the stream's.
/// A cluster that has just lost a server can choose that very server for the consumer, and then
/// nobody answers: it is asked again.
std::string create_consumer(jsCtx* jetstream, const std::string& stream, std::uint64_t after) {
    jsConsumerConfig config;
    jsConsumerConfig_Init(&config);
    config.AckPolicy = js_AckNone;
    config.DeliverPolicy = js_DeliverByStartSequence;
    config.OptStartSeq = after + 1;
    constexpr int tries = 10;
    jsConsumerInfo* raw = nullptr;
    auto status = NATS_TIMEOUT;
    for (int done = 0; done < tries && status == NATS_TIMEOUT; ++done) {
        status = js_AddConsumer(&raw, jetstream, stream.c_str(), &config, nullptr, nullptr);
    }
    require(status, "cannot read stream " + stream);
    const owned<jsConsumerInfo, jsConsumerInfo_Destroy> consumer(raw);
    return raw->Name;
}

subscription_handle subscribe(jsCtx* jetstream, const std::string& stream, std::uint64_t after) {
    const auto consumer = create_consumer(jetstream, stream, after);
    jsSubOptions options;
    jsSubOptions_Init(&options);
    options.Stream = stream.c_str();
    options.Consumer = consumer.c_str();
    natsSubscription* subscription = nullptr;
    require(js_PullSubscribe(&subscription, jetstream, "", nullptr, nullptr, &options, nullptr),
            "cannot bind to the consumer of stream " + stream);
    return subscription_handle(subscription);
}

/// True once the stream's last message has been visited.
bool visit_batch(natsSubscription* subscription,
                 const std::function<void(const stored_message&)>& visit) {
    constexpr int batch = 1000;
    constexpr std::int64_t timeout_milliseconds = 30000;
    natsMsgList list{};
    require(natsSubscription_Fetch(&list, subscription, batch, timeout_milliseconds, nullptr),
            "cannot fetch");
    const owned<natsMsgList, natsMsgList_Destroy> keeper(&list);
    bool last = false;
    for (int index = 0; index < list.Count; ++index) {
        const auto next = delivery_of(list.Msgs[index]);
        last = next.last;
        visit(next.content);
    }
    return last;
}

stream_state state_of(const jsStreamInfo& info) {
    stream_state state;
    state.messages = info.State.Msgs;
    state.first_sequence = info.State.FirstSeq;
    state.last_sequence = info.State.LastSeq;
    state.consumers = info.State.Consumers;
    const auto& config = *info.Config;
    state.subjects.assign(config.Subjects, config.Subjects + config.SubjectsLen);
    state.keeps = config.Retention == js_LimitsPolicy     ? retention::limits
                  : config.Retention == js_InterestPolicy ? retention::interest
                                                          : retention::work_queue;
    state.file_storage = config.Storage == js_FileStorage;
    state.replicas = config.Replicas;
    state.description = config.Description == nullptr ? "" : config.Description;
    state.duplicate_window = std::chrono::nanoseconds(config.Duplicates);
    if (info.Cluster != nullptr && info.Cluster->Leader != nullptr) {
        state.leader = info.Cluster->Leader;
    }
    return state;
}

jsRetentionPolicy policy_of(retention keeps) {
    switch (keeps) {
        case retention::interest:
            return js_InterestPolicy;
        case retention::work_queue:
            return js_WorkQueuePolicy;
        case retention::limits:
            break;
    }
    return js_LimitsPolicy;
}

}  // namespace

std::string stored_message::header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? std::string() : found->second;
}

struct stream_reader::connection {
    connection(const std::string& url, std::chrono::milliseconds patience)
        : link(connect_to(url)), jetstream(jetstream_of(link.get(), patience)) {}

    void change(const std::string& stream, const std::function<void(jsStreamConfig&)>& how) const;

    connection_handle link;
    jetstream_handle jetstream;
};

stream_reader::stream_reader(const std::string& url, std::chrono::milliseconds patience)
    : connection_(std::make_unique<connection>(url, patience)) {}

stream_reader::~stream_reader() = default;

void stream_reader::create(const stream_options& options) {
    std::vector<const char*> subjects;
    for (const auto& subject : options.subjects) {
        subjects.push_back(subject.c_str());
    }
    jsStreamConfig config;
    jsStreamConfig_Init(&config);
    config.Name = options.name.c_str();
    config.Subjects = subjects.data();
    config.SubjectsLen = static_cast<int>(subjects.size());
    config.Retention = policy_of(options.keeps);
    config.MaxMsgSize = options.max_message_bytes;
    config.MaxMsgs = options.max_messages;
    config.Duplicates = options.duplicate_window.count();
    config.Discard = options.discard_new ? js_DiscardNew : js_DiscardOld;
    config.MaxMsgsPerSubject = options.max_messages_per_subject;
    config.DiscardNewPerSubject = options.discard_new && options.max_messages_per_subject > 0;
    config.Replicas = options.replicas;
    jsStreamSource from;
    jsStreamSource_Init(&from);
    jsStreamSource* sources[] = {&from};
    if (!options.mirror_of.empty()) {
        from.Name = options.mirror_of.c_str();
        config.Mirror = &from;
    } else if (!options.source.empty()) {
        from.Name = options.source.c_str();
        config.Sources = sources;
        config.SourcesLen = 1;
    }
    require(js_AddStream(nullptr, connection_->jetstream.get(), &config, nullptr, nullptr),
            "cannot create stream " + options.name);
}

void stream_reader::remove(const std::string& stream) {
    require(js_DeleteStream(connection_->jetstream.get(), stream.c_str(), nullptr, nullptr),
            "cannot delete stream " + stream);
}

void stream_reader::create(const std::string& name, const std::string& configuration) {
    constexpr int patience_ms = 5000;
    natsMsg* raw = nullptr;
    require(natsConnection_RequestString(&raw, connection_->link.get(),
                                         ("$JS.API.STREAM.CREATE." + name).c_str(),
                                         configuration.c_str(), patience_ms),
            "cannot create stream " + name);
    const owned<natsMsg, natsMsg_Destroy> answer(raw);
    const std::string said(natsMsg_GetData(raw),
                           static_cast<std::size_t>(natsMsg_GetDataLength(raw)));
    if (said.find("\"error\"") != std::string::npos) {
        throw std::runtime_error("cannot create stream " + name + ": " + said);
    }
}

void stream_reader::purge(const std::string& stream) {
    require(js_PurgeStream(connection_->jetstream.get(), stream.c_str(), nullptr, nullptr),
            "cannot purge stream " + stream);
}

void stream_reader::connection::change(const std::string& stream,
                                       const std::function<void(jsStreamConfig&)>& how) const {
    jsStreamInfo* raw = nullptr;
    require(js_GetStreamInfo(&raw, jetstream.get(), stream.c_str(), nullptr, nullptr),
            "cannot look at stream " + stream);
    const owned<jsStreamInfo, jsStreamInfo_Destroy> info(raw);
    // What it points to stays the library's.
    auto changed = *info->Config;
    how(changed);
    require(js_UpdateStream(nullptr, jetstream.get(), &changed, nullptr, nullptr),
            "cannot change stream " + stream);
}

void stream_reader::seal(const std::string& stream) {
    connection_->change(stream, [](jsStreamConfig& config) { config.Sealed = true; });
}

void stream_reader::limit(const std::string& stream, std::int64_t max_messages) {
    connection_->change(stream, [max_messages](jsStreamConfig& config) {
        config.MaxMsgs = max_messages;
        config.Discard = max_messages < 0 ? js_DiscardOld : js_DiscardNew;
    });
}

void stream_reader::keep_newest(const std::string& stream, std::int64_t max_messages) {
    connection_->change(stream, [max_messages](jsStreamConfig& config) {
        config.MaxMsgs = max_messages;
        config.Discard = js_DiscardOld;
    });
}

void stream_reader::expire(const std::string& stream, std::chrono::nanoseconds max_age) {
    connection_->change(stream,
                        [max_age](jsStreamConfig& config) { config.MaxAge = max_age.count(); });
}

void stream_reader::set_subjects(const std::string& stream,
                                 const std::vector<std::string>& subjects) {
    std::vector<const char*> names;
    names.reserve(subjects.size());
    for (const auto& subject : subjects) {
        names.push_back(subject.c_str());
    }
    connection_->change(stream, [&](jsStreamConfig& config) {
        config.Subjects = names.data();
        config.SubjectsLen = static_cast<int>(names.size());
    });
}

void stream_reader::limit_size(const std::string& stream, std::int32_t max_message_bytes) {
    connection_->change(stream, [max_message_bytes](jsStreamConfig& config) {
        config.MaxMsgSize = max_message_bytes;
    });
}

void stream_reader::free_subjects(const std::string& stream) {
    connection_->change(stream, [](jsStreamConfig& config) {
        config.DiscardNewPerSubject = false;
        config.MaxMsgsPerSubject = -1;
    });
}

void stream_reader::delete_message(const std::string& stream, std::uint64_t sequence) {
    require(js_DeleteMsg(connection_->jetstream.get(), stream.c_str(), sequence, nullptr, nullptr),
            "cannot delete from stream " + stream);
}

std::optional<stream_state> stream_reader::state(const std::string& stream) {
    jsStreamInfo* raw = nullptr;
    const auto status =
        js_GetStreamInfo(&raw, connection_->jetstream.get(), stream.c_str(), nullptr, nullptr);
    if (status == NATS_NOT_FOUND) {
        return std::nullopt;
    }
    require(status, "cannot look at stream " + stream);
    const owned<jsStreamInfo, jsStreamInfo_Destroy> info(raw);
    return state_of(*info);
}

std::optional<stored_message> stream_reader::last(const std::string& stream,
                                                  const std::string& subject) {
    natsMsg* raw = nullptr;
    const auto status = js_GetLastMsg(&raw, connection_->jetstream.get(), stream.c_str(),
                                      subject.c_str(), nullptr, nullptr);
    if (status == NATS_NOT_FOUND) {
        return std::nullopt;
    }
    require(status, "cannot read the last message of stream " + stream);
    const message_handle message(raw);
    return stored_content_of(raw);
}

void stream_reader::step_down(const std::string& stream) {
    constexpr std::int64_t timeout_milliseconds = 2000;
    natsMsg* raw = nullptr;
    const auto subject = "$JS.API.STREAM.LEADER.STEPDOWN." + stream;
    require(natsConnection_RequestString(&raw, connection_->link.get(), subject.c_str(), "",
                                         timeout_milliseconds),
            "cannot make the leader of stream " + stream + " step down");
    const message_handle answer(raw);
}

std::uint64_t stream_reader::message_count(const std::string& stream) {
    try {
        const auto now = state(stream);
        return now ? now->messages : 0;
    } catch (const std::runtime_error&) {
        return 0;
    }
}

bool stream_reader::wait_for(const std::string& stream, std::uint64_t messages,
                             std::chrono::milliseconds patience) {
    return eventually(patience, [&] { return message_count(stream) >= messages; });
}

void stream_reader::for_each(const std::string& stream, std::uint64_t after,
                             const std::function<void(const stored_message&)>& visit) {
    const auto now = state(stream);
    if (!now) {
        throw std::runtime_error("there is no stream " + stream);
    }
    if (now->messages == 0 || now->last_sequence <= after) {
        return;
    }
    const auto subscription = subscribe(connection_->jetstream.get(), stream, after);
    while (!visit_batch(subscription.get(), visit)) {
    }
}

std::vector<stored_message> stream_reader::read(const std::string& stream, std::uint64_t after) {
    constexpr std::chrono::seconds catches_up{20};
    std::vector<stored_message> messages;
    // A consumer is placed at any replica, which can lack what its leader has told of by then.
    static_cast<void>(eventually(catches_up, [&] {
        messages.clear();
        for_each(stream, after,
                 [&](const stored_message& message) { messages.push_back(message); });
        return after > 0 || messages.size() >= message_count(stream);
    }));
    return messages;
}

std::uint64_t stream_reader::publish(const std::string& subject, const std::string& body,
                                     const std::map<std::string, std::string>& headers) {
    natsMsg* raw = nullptr;
    require(
        natsMsg_Create(&raw, subject.c_str(), nullptr, body.data(), static_cast<int>(body.size())),
        subject);
    const message_handle message(raw);
    for (const auto& [name, value] : headers) {
        require(natsMsgHeader_Set(raw, name.c_str(), value.c_str()), name);
    }
    jsPubAck* ack = nullptr;
    require(js_PublishMsg(&ack, connection_->jetstream.get(), raw, nullptr, nullptr),
            "cannot publish to " + subject);
    const owned<jsPubAck, jsPubAck_Destroy> keeper(ack);
    return ack->Sequence;
}

}  // namespace walrelay::test
