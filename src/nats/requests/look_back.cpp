#include "nats/requests/look_back.hpp"

#include "core/stream_end.hpp"
#include "nats/requests/stream_reader.hpp"
#include "nats/session/inbox.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace walrelay::nats {
namespace {

struct reader {
    natsConnection* connection;
    const std::string& stream;
    std::chrono::milliseconds timeout;

    [[nodiscard]] error failure(natsStatus status) const {
        return with_last_error(
            {errc::broker_unavailable, "the last messages of stream " + stream + " cannot be read"},
            status);
    }
    /// Makes a consumer and asks it for all that it has; returns how many messages that is. It
    /// sends no more than that, whatever is published meanwhile.
    [[nodiscard]] result<std::uint64_t> deliver_to(const char* inbox, std::uint64_t from) const;
};

result<std::uint64_t> reader::deliver_to(const char* inbox, std::uint64_t from) const {
    constexpr std::chrono::nanoseconds kept_idle = std::chrono::seconds(10);
    jsOptions options;
    jsOptions_Init(&options);
    options.Wait = timeout.count();
    jsCtx* context = nullptr;
    if (const auto status = natsConnection_JetStream(&context, connection, &options);
        status != NATS_OK) {
        return failure(status);
    }
    const jetstream_handle owned(context);
    jsConsumerConfig config;
    jsConsumerConfig_Init(&config);
    config.DeliverPolicy = js_DeliverByStartSequence;
    config.OptStartSeq = from;
    config.AckPolicy = js_AckNone;
    config.HeadersOnly = true;
    config.InactiveThreshold = kept_idle.count();
    config.MemoryStorage = true;
    config.Replicas = 1;
    jsConsumerInfo* raw = nullptr;
    jsErrCode code{};
    const auto status = js_AddConsumer(&raw, context, stream.c_str(), &config, &options, &code);
    const consumer_info_handle made(raw);
    if (status != NATS_OK) {
        return failure(status);
    }
    const auto subject = "$JS.API.CONSUMER.MSG.NEXT." + stream + "." + made->Name;
    const auto request = R"({"no_wait":true,"batch":)" + std::to_string(made->NumPending) + "}";
    const auto asked =
        natsConnection_PublishRequestString(connection, subject.c_str(), inbox, request.c_str());
    if (asked != NATS_OK) {
        return failure(asked);
    }
    return made->NumPending;
}

bool is_status(natsMsg* message) {
    const char* value = nullptr;
    return natsMsgHeader_Get(message, "Status", &value) == NATS_OK;
}

/// Where and when the message was stored; nothing if it does not say.
struct storing {
    std::uint64_t sequence = 0;
    wall_time at = {};
};
std::optional<storing> storing_of(natsMsg* message) {
    jsMsgMetaData* raw = nullptr;
    if (natsMsg_GetMetaData(&raw, message) != NATS_OK) {
        return std::nullopt;
    }
    const message_data_handle data(raw);
    const std::chrono::nanoseconds at{data->Timestamp};
    return storing{data->Sequence.Stream,
                   wall_time(std::chrono::duration_cast<std::chrono::microseconds>(at))};
}

/// Remembers walrelay's messages, as long as none is missing between those that are told.
class recent_messages {
public:
    void add(natsMsg* message, const std::optional<storing>& stored, bool is_ours) {
        whole_ = whole_ && stored && (last_ == 0 || stored->sequence == last_ + 1);
        const char* id = nullptr;
        if (!whole_) {
            return;
        }
        last_ = stored->sequence;
        if (is_ours && natsMsgHeader_Get(message, "Nats-Msg-Id", &id) == NATS_OK) {
            messages_.push_back({id, stored->at, stored->sequence});
        }
    }
    void break_off() { whole_ = false; }
    [[nodiscard]] bool is_whole() const { return whole_; }
    [[nodiscard]] std::vector<recent_message> take() {
        return whole_ ? std::move(messages_) : std::vector<recent_message>{};
    }

private:
    std::vector<recent_message> messages_;
    std::uint64_t last_ = 0;
    bool whole_ = true;
};

/// Takes one message of this place (0 where that is not known) for the last one so far.
void take(const asked_message& one, stream_facts& facts) {
    const auto& ours = one.where;
    facts.final_position = ours;
    facts.final_id = one.id;
    if (!ours) {
        facts.shared = true;
        return;
    }
    // Beside others a message can come after a later one that it had to be sent again after.
    const bool comparable = facts.last_position && facts.last_position->origin == ours->origin;
    if (!comparable || facts.last_position->at < ours->at) {
        facts.last_position = ours;
    }
    if (!facts.shared) {
        facts.safe_position = ours;
        facts.safe_id = facts.final_id;
        facts.safe_sequence = one.sequence;
    }
    if (one.sequence != 0) {
        facts.placed.push_back({one.sequence, *ours, facts.final_id});
    }
}

asked_message read_headers(natsMsg* from, const std::optional<storing>& stored) {
    const char* value = nullptr;
    asked_message one;
    one.sequence = stored ? stored->sequence : 0;
    if (natsMsgHeader_Get(from, "Nats-Msg-Id", &value) == NATS_OK) {
        one.id = value;
    }
    if (natsMsgHeader_Get(from, "Walrelay-Position", &value) == NATS_OK) {
        one.where = parse_position(value);
    }
    return one;
}

/// What was read of the last message alone.
void forget_ends(stream_facts& facts) {
    facts.last_position.reset();
    facts.safe_position.reset();
    facts.safe_id.clear();
    facts.shared = false;
}

/// Reads as many messages, but none after the one that the leader has told as the last; returns
/// the sequence of the last one.
result<std::uint64_t> read_messages(const reader& from, natsSubscription* incoming,
                                    std::uint64_t expected, const stream_facts& leader,
                                    stream_facts& facts, recent_messages& recent) {
    forget_ends(facts);
    std::uint64_t last = 0;
    bool goes_beyond = false;
    for (std::uint64_t seen = 0; seen < expected; ++seen) {
        natsMsg* message = nullptr;
        const auto status = natsSubscription_NextMsg(&message, incoming, from.timeout.count());
        const message_handle owned(message);
        if (status != NATS_OK) {
            return from.failure(status);
        }
        if (is_status(message)) {
            break;  // some were deleted meanwhile
        }
        const auto stored = storing_of(message);
        goes_beyond = stored && stored->sequence > leader.last_sequence;
        if (goes_beyond) {
            break;
        }
        const auto one = read_headers(message, stored);
        take(one, facts);
        last = stored ? stored->sequence : last;
        recent.add(message, stored, one.where.has_value());
    }
    if (goes_beyond && last < leader.last_sequence && leader.last_message_there) {
        // A newer message of its subject has taken its place meanwhile.
        last = leader.last_sequence;
        take({last, leader.final_position, leader.final_id}, facts);
        recent.break_off();
    }
    return last;
}

}  // namespace

result<void> look_back(natsConnection* connection, const connect_options& options,
                       std::uint64_t count, stream_facts& facts, subscription_handle& incoming) {
    const reader from{connection, options.stream, options.timeout};
    const auto inbox = new_inbox(options.inbox_prefix, 0) + "back";
    natsSubscription* raw = nullptr;
    if (const auto status = natsConnection_SubscribeSync(&raw, connection, inbox.c_str());
        status != NATS_OK) {
        return from.failure(status);
    }
    incoming.reset(raw);
    const auto first = facts.last_sequence - std::min(count, facts.last_sequence) + 1;
    const auto expected = from.deliver_to(inbox.c_str(), first);
    if (!expected) {
        return expected.error();
    }
    const auto told = facts;
    recent_messages recent;
    const auto last = read_messages(from, raw, *expected, told, facts, recent);
    if (!last) {
        return last.error();
    }
    if (!ends_alike(told, {*last, facts.final_position, facts.final_id})) {
        return ends_differ(options.stream);
    }
    facts.placed_is_whole = recent.is_whole();
    facts.recent = recent.take();
    facts.looked_back = true;
    return {};
}

}  // namespace walrelay::nats
