#include "nats/requests/stream_reader.hpp"

#include "core/stream_end.hpp"
#include "nats/requests/connect_call.hpp"
#include "nats/requests/look_back.hpp"

#include <simdjson.h>

#include <algorithm>
#include <utility>

namespace walrelay::nats {
namespace {

struct jetstream_call {
    jetstream_handle context;
    jsOptions options;
};

/// `to` outlives the call.
result<jetstream_call> open_jetstream(natsConnection* connection, const connect_options& to) {
    jetstream_call call;
    jsOptions_Init(&call.options);
    call.options.Wait = to.timeout.count();
    call.options.Prefix = to.api.c_str();
    jsCtx* context = nullptr;
    const auto status = natsConnection_JetStream(&context, connection, &call.options);
    if (status != NATS_OK) {
        return with_last_error({errc::broker_unavailable, "JetStream cannot be used"}, status);
    }
    call.context.reset(context);
    return call;
}

error refusal(natsStatus status, jsErrCode code, const std::string& what) {
    constexpr std::string_view enable =
        "enable JetStream for the account (jetstream {} in "
        "nats-server.conf, or --jetstream)";
    if (code == JSNotEnabledErr || code == JSNotEnabledForAccountErr) {
        return with_last_error(
            {errc::broker_unavailable, what + ": JetStream is not enabled", std::string(enable)},
            status);
    }
    return with_last_error({errc::broker_unavailable, what}, status);
}

void copy_config(const jsStreamConfig& config, stream_facts& facts) {
    facts.description = config.Description == nullptr ? "" : config.Description;
    for (int index = 0; index < config.SubjectsLen; ++index) {
        facts.subjects.emplace_back(config.Subjects[index]);
    }
    facts.retention = config.Retention == js_InterestPolicy    ? stream_retention::interest
                      : config.Retention == js_WorkQueuePolicy ? stream_retention::work_queue
                                                               : stream_retention::limits;
    facts.file_storage = config.Storage == js_FileStorage;
    facts.discard_new = config.Discard == js_DiscardNew;
    facts.sealed = config.Sealed;
    facts.no_ack = config.NoAck;
    facts.mirror_or_sourced = config.Mirror != nullptr || config.SourcesLen > 0;
    facts.max_messages = config.MaxMsgs;
    facts.max_bytes = config.MaxBytes;
    facts.max_message_bytes = config.MaxMsgSize;
    facts.max_messages_per_subject = config.MaxMsgsPerSubject;
    facts.discard_new_per_subject = config.DiscardNewPerSubject;
    facts.max_age = std::chrono::nanoseconds(config.MaxAge);
    facts.duplicate_window = std::chrono::nanoseconds(config.Duplicates);
    facts.replicas = config.Replicas;
}

/// What the server says no to when a stream is to be made.
std::string remedy_of_refused(jsErrCode code) {
    switch (code) {
        case JSStreamMaxBytesRequiredErr:
            return "set nats.max_bytes: the account takes no stream without a limit";
        case JSStreamMaxStreamBytesExceededErr:
            return "make nats.max_bytes smaller: the account limits the bytes of one stream (nats "
                   "account info)";
        case JSStorageResourcesExceededErr:
        case JSInsufficientResourcesErr:
            return "make nats.max_bytes or nats.replicas smaller, or raise max_storage of the "
                   "account or max_file_store of the servers (nats account info)";
        case JSMaximumStreamsLimitErr:
            return "raise max_streams of the account (nats account info), or name a stream of the "
                   "account in nats.stream that nothing else writes to (nats stream ls)";
        case JSStreamReplicasNotSupportedErr:
            return "set nats.replicas = 1: the server is in no cluster";
        default:
            return "change nats.subjects or nats.replicas so that the server takes them "
                   "(no other stream may have an overlapping subject), or create the stream "
                   "by hand";
    }
}

/// Nothing if there is no message of that sequence.
result<message_handle> read_message(jetstream_call& call, const std::string& stream,
                                    std::uint64_t sequence) {
    natsMsg* raw = nullptr;
    jsErrCode code{};
    const auto status =
        js_GetMsg(&raw, call.context.get(), stream.c_str(), sequence, &call.options, &code);
    if (status != NATS_OK && status != NATS_NOT_FOUND) {
        return refusal(
            status, code,
            "message " + std::to_string(sequence) + " of stream " + stream + " cannot be read");
    }
    return message_handle(status == NATS_OK ? raw : nullptr);
}

/// Nothing if there is none.
result<message_handle> read_last_message(jetstream_call& call, const std::string& stream) {
    natsMsg* raw = nullptr;
    jsErrCode code{};
    const auto status =
        js_GetLastMsg(&raw, call.context.get(), stream.c_str(), ">", &call.options, &code);
    if (status != NATS_OK && status != NATS_NOT_FOUND) {
        return refusal(status, code, "the last message of stream " + stream + " cannot be read");
    }
    return message_handle(status == NATS_OK ? raw : nullptr);
}

void take_last(natsMsg* last, stream_facts& facts) {
    facts.last_message_there = true;
    facts.last_sequence = natsMsg_GetSequence(last);
    facts.last_position = parse_position(header_of(last, "Walrelay-Position"));
    facts.shared = !facts.last_position;
    facts.safe_position = facts.last_position;
    facts.final_position = facts.last_position;
    facts.final_id = header_of(last, "Nats-Msg-Id");
    facts.safe_id = facts.final_id;
    facts.safe_sequence = facts.last_sequence;
}

/// The stream's last message; it may be gone, which is no error.
result<void> read_tail(jetstream_call& call, const std::string& stream, stream_facts& facts) {
    if (facts.last_sequence == 0 || facts.message_count == 0) {
        return {};
    }
    auto last = read_last_message(call, stream);
    if (!last) {
        return last.error();
    }
    if (*last && natsMsg_GetSequence(last->get()) >= facts.last_sequence) {
        take_last(last->get(), facts);
        return {};
    }
    // Deleted; or the server that answered is behind the one that told the state.
    const auto named = read_message(call, stream, facts.last_sequence);
    if (!named) {
        return named.error();
    }
    if (*named) {
        return ends_differ(stream);
    }
    return {};
}

result<void> read_asked(jetstream_call& call, const std::string& stream, std::uint64_t sequence,
                        stream_facts& facts) {
    const auto found = read_message(call, stream, sequence);
    if (!found) {
        return found.error();
    }
    auto& asked = facts.asked.emplace();
    asked.sequence = sequence;
    if (*found) {
        asked.where = parse_position(header_of(found->get(), "Walrelay-Position"));
        asked.id = header_of(found->get(), "Nats-Msg-Id");
    }
    return {};
}

/// What nats.c 3.4.1 does not read.
result<void> read_newer_settings(natsConnection* connection, const connect_options& options,
                                 stream_facts& facts, std::string& domain) {
    const auto subject = options.api + ".STREAM.INFO." + options.stream;
    natsMsg* raw = nullptr;
    const auto status = natsConnection_RequestString(&raw, connection, subject.c_str(), "",
                                                     options.timeout.count());
    const message_handle answer(raw);
    if (status != NATS_OK) {
        return with_last_error({errc::broker_unavailable, "the configuration of stream " +
                                                              options.stream + " cannot be read"},
                               status);
    }
    simdjson::dom::parser parser;
    simdjson::dom::object config;
    std::uint64_t counts_from = 0;
    bool is_counter = false;
    std::string_view persist_mode;
    const auto info =
        parser.parse(natsMsg_GetData(raw), static_cast<std::size_t>(natsMsg_GetDataLength(raw)));
    if (info["config"].get(config) != simdjson::SUCCESS) {
        return {};
    }
    std::string_view in_domain;
    if (info["domain"].get(in_domain) == simdjson::SUCCESS) {
        domain = in_domain;
    }
    if (config["first_seq"].get(counts_from) == simdjson::SUCCESS) {
        facts.counts_from = std::max<std::uint64_t>(counts_from, 1);
    }
    if (config["allow_msg_counter"].get(is_counter) == simdjson::SUCCESS) {
        facts.is_counter = is_counter;
    }
    if (config["persist_mode"].get(persist_mode) == simdjson::SUCCESS) {
        facts.acks_before_stored = persist_mode == "async";
    }
    return {};
}

/// nats.c writes `(jsm.c:1033): words`.
std::string_view without_place(std::string_view text) {
    constexpr std::string_view end = "): ";
    const auto at = text.starts_with('(') ? text.find(end) : std::string_view::npos;
    const auto place = text.substr(0, at);
    const bool is_place =
        at != std::string_view::npos && place.find(".c:") != std::string_view::npos;
    return is_place ? text.substr(at + end.size()) : text;
}

void copy_state(const jsStreamInfo& info, stream_facts& stream) {
    stream.created = to_wall_time(info.Created);
    stream.first_sequence = info.State.FirstSeq;
    stream.last_sequence = info.State.LastSeq;
    stream.message_count = info.State.Msgs;
    stream.byte_count = info.State.Bytes;
    if (info.Cluster != nullptr && info.Cluster->Leader != nullptr) {
        stream.leader = info.Cluster->Leader;
    }
    if (info.State.Msgs > 0 && info.State.FirstTime > 0) {
        stream.first_stored = to_wall_time(info.State.FirstTime);
    }
    if (info.State.LastTime > 0) {
        stream.last_stored = to_wall_time(info.State.LastTime);
    }
}

result<void> look_at_last(natsConnection* connection, const connect_options& options,
                          stream_facts& found, subscription_handle& incoming) {
    constexpr std::uint64_t behind_a_stranger = 1024;
    const auto count =
        found.shared ? std::max(options.look_back, behind_a_stranger) : options.look_back;
    if (count == 0 || found.message_count == 0) {
        return {};
    }
    if (auto looked = look_back(connection, options, count, found, incoming); !looked) {
        return looked;
    }
    if (found.max_messages_per_subject > 0) {
        // Older messages of a subject make room for newer ones.
        found.recent.clear();
        found.placed_is_whole = false;
    }
    return {};
}

}  // namespace

std::string last_error_text(natsStatus status) {
    natsStatus last = NATS_OK;
    const char* const text = nats_GetLastError(&last);
    if (last == status && text != nullptr && *text != '\0') {
        return std::string(without_place(text));
    }
    return natsStatus_GetText(status);
}

error with_last_error(error failure, natsStatus status) {
    // Of all others the library itself is the author: no answer came, or it was none.
    const bool has_answered = status == NATS_ERR || status == NATS_NOT_FOUND ||
                              status == NATS_NOT_PERMITTED || status == NATS_CONNECTION_AUTH_FAILED;
    if (has_answered) {
        failure.server_said = last_error_text(status);
    } else {
        failure.what += ": " + last_error_text(status);
    }
    return failure;
}

result<broker_facts> read_broker(natsConnection* connection, const connect_options& options,
                                 subscription_handle& incoming, std::string* domain) {
    broker_facts facts;
    facts.max_payload_bytes = static_cast<std::uint64_t>(natsConnection_GetMaxPayload(connection));
    const auto& stream = options.stream;
    auto call = open_jetstream(connection, options);
    if (!call) {
        return call.error();
    }
    jsStreamInfo* raw = nullptr;
    jsErrCode code{};
    const auto status =
        js_GetStreamInfo(&raw, call->context.get(), stream.c_str(), &call->options, &code);
    if (status == NATS_NOT_FOUND || code == JSStreamNotFoundErr) {
        return facts;
    }
    if (status != NATS_OK) {
        return refusal(status, code, "stream " + stream + " cannot be looked at");
    }
    const stream_info_handle info(raw);
    if (info->Config == nullptr) {
        return no_answer_of_jetstream("stream " + stream);
    }
    facts.stream.emplace();
    copy_config(*info->Config, *facts.stream);
    copy_state(*info, *facts.stream);
    std::string in_domain;
    if (auto read = read_newer_settings(connection, options, *facts.stream, in_domain); !read) {
        return read.error();
    }
    if (domain != nullptr) {
        *domain = std::move(in_domain);
    }
    if (auto tail = read_tail(*call, stream, *facts.stream); !tail) {
        return tail.error();
    }
    if (options.asks_for > 0) {
        if (auto read = read_asked(*call, stream, options.asks_for, *facts.stream); !read) {
            return read.error();
        }
    }
    if (auto looked = look_at_last(connection, options, *facts.stream, incoming); !looked) {
        return looked.error();
    }
    return facts;
}

result<void> make_stream(natsConnection* connection, const connect_options& options,
                         const stream_definition& definition) {
    auto call = open_jetstream(connection, options);
    if (!call) {
        return call.error();
    }
    jsStreamConfig config;
    jsStreamConfig_Init(&config);
    std::vector<const char*> subjects;
    subjects.reserve(definition.subjects.size());
    for (const auto& subject : definition.subjects) {
        subjects.push_back(subject.c_str());
    }
    config.Name = definition.name.c_str();
    config.Subjects = subjects.data();
    config.SubjectsLen = static_cast<int>(subjects.size());
    config.Storage = js_FileStorage;
    config.Retention = js_LimitsPolicy;
    config.Replicas = definition.replicas;
    if (definition.max_bytes) {
        config.MaxBytes = static_cast<std::int64_t>(*definition.max_bytes);
    }
    jsErrCode code{};
    const auto status = js_AddStream(nullptr, call->context.get(), &config, &call->options, &code);
    if (status == NATS_OK) {
        return {};
    }
    auto failure = refusal(status, code, "stream " + definition.name + " cannot be created");
    if (code != 0 && failure.remedy.empty()) {
        failure.code = errc::broker_unsuitable;
        failure.remedy = remedy_of_refused(code);
    }
    return failure;
}

}  // namespace walrelay::nats
