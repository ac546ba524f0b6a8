#include "nats/requests/cleanup_cursor.hpp"

#include "core/assert.hpp"
#include "nats/requests/connect_call.hpp"
#include "nats/requests/handles.hpp"
#include "nats/requests/server_words.hpp"
#include "nats/requests/stream_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <string_view>
#include <utility>

namespace walrelay::nats {
namespace {

constexpr std::string_view purpose = "rows of walrelay's outbox that are due for deletion";
constexpr std::string_view before_note = "; ";
constexpr std::uint64_t batch_max = 500;
/// How long a batch that a relay took and did not settle is kept from the next one.
constexpr std::chrono::nanoseconds kept_from_others = std::chrono::seconds(15);
/// Messages that wait for their second time; the rest of the stream waits once there are as many.
constexpr std::int64_t unsettled_max = 100'000;

error closed_meanwhile() {
    return {errc::broker_lost, "the clean-up was ended"};
}

}  // namespace

struct cleanup_cursor::state {
    connect_options options;
    std::string name;
    /// See cleanup_cursor::note.
    std::optional<std::string> note;
    std::mutex guard;  // of `closed` and `connection`, which close() looks at
    bool closed = false;
    connection_handle connection;
    jetstream_handle jetstream;
    subscription_handle subscription;
    std::vector<message_handle> batch;
    /// How many messages are asked for at a time, the first one left out.
    std::uint64_t others = batch_max - 1;
    /// The number that the consumer gave to the last message that came; 0 before the first.
    std::uint64_t last_delivery = 0;

    [[nodiscard]] result<void> connect();
    [[nodiscard]] result<void> check_stream() const;
    [[nodiscard]] result<void> read_note();
    [[nodiscard]] result<void> make_consumer() const;
    [[nodiscard]] result<void> bind();
    [[nodiscard]] result<void> fetch(std::uint64_t count, std::chrono::milliseconds patience);
    void learn_from(std::uint64_t delivery);
    [[nodiscard]] result<std::uint64_t> first_sequence() const;
    [[nodiscard]] error failure(const std::string& what, natsStatus status) const;
};

error cleanup_cursor::state::failure(const std::string& what, natsStatus status) const {
    if (auto said = refusal_of(connection.get())) {
        const auto on = options.stream + "." + name;
        const auto& api = options.api;
        return {errc::broker_unsuitable,
                "the broker's account may not have a consumer of stream " + options.stream,
                "grant it publish on " + api + ".STREAM.INFO." + options.stream + ", " + api +
                    ".STREAM.MSG.GET." + options.stream + ", " + api + ".CONSUMER.DURABLE.CREATE." +
                    on + ", " + api + ".CONSUMER.INFO." + on + ", " + api + ".CONSUMER.MSG.NEXT." +
                    on + " and $JS.ACK." + on + ".>, and subscribe on " + options.inbox_prefix +
                    ".>",
                std::move(*said)};
    }
    auto why = unavailable(what, status);
    why.code = natsConnection_IsClosed(connection.get()) ? errc::broker_lost : why.code;
    return why;
}

result<void> cleanup_cursor::state::connect() {
    auto connected = connect_blocking(options);
    if (!connected) {
        return connected.error();
    }
    natsConnection* const raw = connected->get();
    {
        const std::lock_guard lock(guard);
        connection = std::move(*connected);
        if (closed) {
            return closed_meanwhile();
        }
    }
    jsOptions how;
    jsOptions_Init(&how);
    how.Wait = options.timeout.count();
    how.Prefix = options.api.c_str();
    jsCtx* context = nullptr;
    if (const auto status = natsConnection_JetStream(&context, raw, &how); status != NATS_OK) {
        return unavailable("JetStream cannot be used", status);
    }
    jetstream.reset(context);
    return {};
}

/// A consumer that lags keeps the messages of an interest or work queue stream from going.
result<void> cleanup_cursor::state::check_stream() const {
    jsStreamInfo* raw = nullptr;
    const auto status =
        js_GetStreamInfo(&raw, jetstream.get(), options.stream.c_str(), nullptr, nullptr);
    const stream_info_handle info(raw);
    if (status != NATS_OK) {
        return failure("stream " + options.stream + " cannot be looked at", status);
    }
    if (info->Config == nullptr) {
        return no_answer_of_jetstream("stream " + options.stream);
    }
    if (info->Config->Retention != js_LimitsPolicy) {
        return error{errc::broker_unsuitable,
                     "stream " + options.stream +
                         " does not use limits retention, so rows of the tables that it is for are "
                         "not deleted",
                     "use a stream with limits retention, or take delete_after out"};
    }
    return {};
}

result<void> cleanup_cursor::state::read_note() {
    jsConsumerInfo* raw = nullptr;
    jsErrCode code{};
    const auto status = js_GetConsumerInfo(&raw, jetstream.get(), options.stream.c_str(),
                                           name.c_str(), nullptr, &code);
    const consumer_info_handle info(raw);
    note.reset();
    if (status == NATS_NOT_FOUND || code == JSConsumerNotFoundErr) {
        return {};
    }
    if (status != NATS_OK) {
        return failure("consumer " + name + " cannot be looked at", status);
    }
    if (info->Config == nullptr) {
        return no_answer_of_jetstream("consumer " + name);
    }
    const std::string_view text =
        info->Config->Description == nullptr ? "" : info->Config->Description;
    note = note_in(text);
    return {};
}

/// Makes it, or changes its note.
result<void> cleanup_cursor::state::make_consumer() const {
    std::string description(purpose);
    if (note && !note->empty()) {
        description.append(before_note).append(*note);
    }
    jsConsumerConfig config;
    jsConsumerConfig_Init(&config);
    config.Durable = name.c_str();
    config.Description = description.c_str();
    config.DeliverPolicy = js_DeliverAll;
    config.AckPolicy = js_AckExplicit;
    config.AckWait = kept_from_others.count();
    config.MaxAckPending = unsettled_max;
    config.HeadersOnly = true;
    for (auto unsettled = unsettled_max; unsettled > 0;) {
        config.MaxAckPending = unsettled;
        jsConsumerInfo* raw = nullptr;
        jsErrCode code{};
        const auto status =
            js_AddConsumer(&raw, jetstream.get(), options.stream.c_str(), &config, nullptr, &code);
        const consumer_info_handle made(raw);
        if (status == NATS_OK) {
            return {};
        }
        if (code != JSConsumerMaxPendingAckExcessErr) {
            auto why = failure(
                "consumer " + name + " of stream " + options.stream + " cannot be made", status);
            if (code == JSMaximumConsumersLimitErr) {
                why.code = errc::broker_unsuitable;
                why.remedy = "raise max_consumers of stream " + options.stream +
                             " or of the account, or take delete_after out";
            }
            return why;
        }
        // The server names the limit of the account or of the stream.
        const auto limit = static_cast<std::int64_t>(last_number_in(last_error_text(status)));
        unsettled = limit > 0 && limit < unsettled ? limit : unsettled / 10;
    }
    return error{errc::broker_unsuitable,
                 "the broker lets no consumer of stream " + options.stream +
                     " have a message that is not acknowledged yet",
                 "raise max_ack_pending of the account and of the stream's consumer limits"};
}

result<void> cleanup_cursor::state::bind() {
    jsSubOptions how;
    jsSubOptions_Init(&how);
    how.Stream = options.stream.c_str();
    how.Consumer = name.c_str();
    // The library compares this with the consumer that it finds.
    how.Config.HeadersOnly = true;
    natsSubscription* raw = nullptr;
    const auto status =
        js_PullSubscribe(&raw, jetstream.get(), "", nullptr, nullptr, &how, nullptr);
    if (status != NATS_OK) {
        return failure("consumer " + name + " cannot be read", status);
    }
    subscription.reset(raw);
    return {};
}

result<void> cleanup_cursor::state::fetch(std::uint64_t count, std::chrono::milliseconds patience) {
    natsMsgList list{};
    const auto status = natsSubscription_Fetch(&list, subscription.get(), static_cast<int>(count),
                                               patience.count(), nullptr);
    const auto said = status == NATS_OK ? std::string() : last_error_text(status);
    for (int index = 0; index < list.Count; ++index) {
        batch.emplace_back(std::exchange(list.Msgs[index], nullptr));
    }
    natsMsgList_Destroy(&list);
    if (count > 1 && said.find("MaxRequestBatch") != std::string::npos) {
        // The limit counts for the next time; the first message is here.
        const auto limit = last_number_in(said);
        others = limit > 0 && limit < count ? limit : count / 2;
        return {};
    }
    // What may not be asked is never answered.
    const bool is_refused = batch.empty() && refusal_of(connection.get());
    if (is_refused || (status != NATS_OK && status != NATS_TIMEOUT)) {
        return failure("consumer " + name + " cannot be read", status);
    }
    return {};
}

/// Messages that were handed out and did not come died on the way, or another relay has them. An
/// account that imports JetStream's API gets one message for each request.
void cleanup_cursor::state::learn_from(std::uint64_t delivery) {
    constexpr std::uint64_t shrinking = 8;
    if (last_delivery > 0 && delivery > last_delivery + 1) {
        others /= shrinking;
    }
    last_delivery = std::max(last_delivery, delivery);
}

cleanup_cursor::cleanup_cursor(connect_options options, std::string name)
    : state_(std::make_unique<state>()) {
    state_->options = std::move(options);
    state_->name = std::move(name);
}

cleanup_cursor::~cleanup_cursor() = default;

result<void> cleanup_cursor::open() {
    auto& here = *state_;
    if (auto connected = here.connect(); !connected) {
        return connected;
    }
    if (auto suits = here.check_stream(); !suits) {
        return suits;
    }
    if (auto read = here.read_note(); !read) {
        return read;
    }
    if (auto made = here.make_consumer(); !made) {
        return made;
    }
    return here.bind();
}

const std::optional<std::string>& cleanup_cursor::note() const {
    return state_->note;
}

result<void> cleanup_cursor::keep_note(std::string note) {
    state_->note = std::move(note);
    return state_->make_consumer();
}

result<std::vector<passed_message>> cleanup_cursor::next() {
    // The broker answers the moment that there is a message; what came with it is there already.
    constexpr std::chrono::milliseconds for_the_first{30'000};
    constexpr std::chrono::milliseconds for_the_others{50};
    auto& here = *state_;
    here.batch.clear();
    if (auto first = here.fetch(1, for_the_first); !first || here.batch.empty()) {
        return first ? result<std::vector<passed_message>>{std::vector<passed_message>{}}
                     : first.error();
    }
    if (here.others > 0) {
        if (auto more = here.fetch(here.others, for_the_others); !more) {
            return more.error();
        }
    }
    std::vector<passed_message> told;
    for (const auto& one : here.batch) {
        jsMsgMetaData* raw = nullptr;
        if (const auto status = natsMsg_GetMetaData(&raw, one.get()); status != NATS_OK) {
            return here.failure("a message of consumer " + here.name + " cannot be read", status);
        }
        const message_data_handle data(raw);
        here.learn_from(data->Sequence.Consumer);
        const auto stored = std::chrono::sys_time<std::chrono::nanoseconds>(
            std::chrono::nanoseconds(data->Timestamp));
        told.push_back({data->Sequence.Stream, stored, data->NumDelivered,
                        std::string(header_of(one.get(), "Nats-Msg-Id")),
                        std::string(header_of(one.get(), "Walrelay-Position")),
                        natsMsg_GetSubject(one.get())});
    }
    return told;
}

result<void> cleanup_cursor::settle(const std::vector<settlement>& messages) {
    auto& here = *state_;
    natsMsg* last_done = nullptr;
    for (const auto& each : messages) {
        auto* const one = here.batch.at(each.index).get();
        if (each.again_after.count() == 0) {
            if (last_done != nullptr) {
                natsMsg_Ack(last_done, nullptr);
            }
            last_done = one;
        } else {
            natsMsg_NakWithDelay(one, each.again_after.count(), nullptr);
        }
    }
    // What is refused is not answered: one answer stands for all that went before it.
    const auto status =
        last_done == nullptr
            ? natsConnection_FlushTimeout(here.connection.get(), here.options.timeout.count())
            : natsMsg_AckSync(last_done, nullptr, nullptr);
    if (status != NATS_OK) {
        return here.failure("consumer " + here.name + " cannot be advanced", status);
    }
    return {};
}

result<std::uint64_t> cleanup_cursor::state::first_sequence() const {
    jsStreamInfo* raw = nullptr;
    const auto status =
        js_GetStreamInfo(&raw, jetstream.get(), options.stream.c_str(), nullptr, nullptr);
    const stream_info_handle info(raw);
    if (status != NATS_OK) {
        return failure("stream " + options.stream + " cannot be looked at", status);
    }
    return info->State.FirstSeq;
}

result<std::string> cleanup_cursor::position_at(std::uint64_t sequence) {
    const auto& here = *state_;
    natsMsg* raw = nullptr;
    jsErrCode code{};
    const auto status = js_GetMsg(&raw, here.jetstream.get(), here.options.stream.c_str(), sequence,
                                  nullptr, &code);
    const message_handle found(raw);
    if (status == NATS_NOT_FOUND || code == JSNoMessageFoundErr) {
        return std::string{};
    }
    if (status != NATS_OK) {
        return here.failure("stream " + here.options.stream + " cannot be read", status);
    }
    return std::string(header_of(raw, "Walrelay-Position"));
}

result<earlier_positions> cleanup_cursor::positions_before(std::uint64_t sequence,
                                                           std::size_t count) {
    constexpr std::uint64_t furthest = 1000;
    const auto first = state_->first_sequence();
    if (!first) {
        return first.error();
    }
    earlier_positions found;
    for (auto at = sequence; at > *first && found.positions.size() < count;) {
        if (sequence - --at > furthest) {
            found.cut_short = true;
            break;
        }
        auto text = position_at(at);
        if (!text) {
            return text.error();
        }
        if (!text->empty()) {
            found.positions.push_back(std::move(*text));
        }
    }
    return found;
}

void cleanup_cursor::close() {
    const std::lock_guard lock(state_->guard);
    state_->closed = true;
    natsConnection_Close(state_->connection.get());
}

std::string note_in(std::string_view description) {
    if (description == purpose) {
        return {};
    }
    if (description.starts_with(purpose) &&
        description.substr(purpose.size()).starts_with(before_note)) {
        return std::string(description.substr(purpose.size() + before_note.size()));
    }
    return "of somebody else: " + std::string(description);
}

std::string consumer_name(const std::vector<std::string>& words) {
    constexpr std::uint64_t offset = 14695981039346656037ULL;  // FNV-1a
    constexpr std::uint64_t prime = 1099511628211ULL;
    std::string name;
    bool plain = true;
    std::uint64_t hash = offset;
    for (const auto& word : words) {
        name += name.empty() ? "" : "-";
        for (const char c : word) {
            const bool allowed = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                                 (c >= '0' && c <= '9') || c == '_';
            plain = plain && allowed;
            name += allowed ? c : '_';
            hash = (hash ^ static_cast<unsigned char>(c)) * prime;
        }
        hash = (hash ^ 0xffU) * prime;
    }
    constexpr std::size_t longest = 200;
    if (plain && name.size() <= longest) {
        return name;
    }
    return fmt::format("{}-{:016x}", name.substr(0, longest), hash);
}

}  // namespace walrelay::nats
