#include "nats/requests/stream_reading.hpp"

#include "core/stream_end.hpp"
#include "nats/requests/connect_call.hpp"
#include "nats/requests/message_get.hpp"
#include "nats/requests/server_words.hpp"
#include "nats/requests/stream_reader.hpp"
#include "nats/session/inbox.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <thread>
#include <utility>

namespace walrelay::nats {
namespace {

/// Between two messages of a batch. The first may take as long as any answer.
constexpr std::chrono::milliseconds longest_silence{2000};
/// Of one request.
constexpr unsigned tries_max = 4;

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

}  // namespace

void wait_before_try(unsigned tries) {
    // A route or a leader that went is there again within seconds.
    constexpr std::chrono::milliseconds first{100};
    std::this_thread::sleep_for(first * (1U << tries));
}

struct stream_reading::batch {
    std::string consumer;
    /// That the consumer has still to send.
    std::uint64_t left = 0;
    std::uint64_t consumed = 0;
    std::uint64_t got = 0;
};

error stream_reading::unread(const reading_span& span) const {
    auto why = fmt::format(
        "stream {} could not be read up to sequence {}: what it has from sequence {} on is unknown",
        options_.stream, span.last, span.next);
    why += trouble_.empty() ? std::string() : " (" + trouble_ + ")";
    const bool is_lost = natsConnection_IsClosed(connection_);
    auto fix = fmt::format(
        "see that the servers of the stream can be reached (nats stream info {}); a relay reads it "
        "again by itself, a command is to be run again",
        options_.stream);
    if (!refused_.empty()) {
        fix += fmt::format(
            "; and raise what limits consumers of the account or of the stream, so that messages "
            "need not be read one by one (server: {})",
            refused_);
    }
    return {is_lost ? errc::broker_lost : errc::broker_unavailable, std::move(why), std::move(fix)};
}

std::optional<error> stream_reading::lasting(const reading_span& span) const {
    const bool forbids = natsConnection_IsClosed(connection_) || refusal_of(connection_);
    return forbids ? std::optional(unread(span)) : std::nullopt;
}

result<void> stream_reading::prepare() {
    if (jetstream_) {
        return {};
    }
    jsOptions how;
    jsOptions_Init(&how);
    how.Wait = options_.timeout.count();
    how.Prefix = options_.api.c_str();
    jsCtx* context = nullptr;
    if (const auto status = natsConnection_JetStream(&context, connection_, &how);
        status != NATS_OK) {
        return unavailable("JetStream cannot be used", status);
    }
    jetstream_.reset(context);
    inbox_ = new_inbox(options_.inbox_prefix);
    natsSubscription* raw = nullptr;
    if (const auto status = natsConnection_SubscribeSync(&raw, connection_, (inbox_ + "*").c_str());
        status != NATS_OK) {
        return unavailable("the messages of stream " + options_.stream + " cannot be read", status);
    }
    incoming_.reset(raw);
    return {};
}

result<std::uint64_t> stream_reading::read(reading_span& span, const message_visitor& visit) {
    if (span.is_over()) {
        return 0;
    }
    if (auto prepared = prepare(); !prepared) {
        return prepared.error();
    }
    beyond_ = 0;
    one_by_one_ = !refused_.empty();
    if (auto read = read_all(span, visit); !read) {
        return read.error();
    }
    if (auto proved = prove_end(span); !proved) {
        return proved.error();
    }
    return beyond_;
}

result<void> stream_reading::read_all(reading_span& span, const message_visitor& visit) {
    constexpr unsigned vain_max = 3;
    for (unsigned vain = 0; !span.is_over();) {
        if (one_by_one_) {
            if (auto stepped = step(span, visit); !stepped) {
                return stepped;
            }
            continue;
        }
        const auto before = span.seen;
        const auto stopped = pass(span, visit);
        if (!stopped) {
            return stopped.error();
        }
        if (*stopped == stop::at_the_end) {
            break;
        }
        if (*stopped == stop::dried_up) {
            // Its own replica may be behind, and what it has sent may have died on the way.
            if (auto looked = look_for_more(span); !looked && lasting(span)) {
                return *lasting(span);
            }
        }
        vain = span.seen > before ? 0 : vain + 1;
        one_by_one_ = *stopped == stop::no_consumer || vain == vain_max;
        if (!span.is_over() && !one_by_one_) {
            wait_before_try(vain);
        }
    }
    return {};
}

// With a consumer.

result<std::optional<stream_reading::stop>> stream_reading::make_consumer(
    std::uint64_t from, consumer_info_handle& made) {
    constexpr std::chrono::nanoseconds kept_idle = std::chrono::minutes(1);
    jsConsumerConfig config;
    jsConsumerConfig_Init(&config);
    config.AckPolicy = js_AckNone;
    config.DeliverPolicy = js_DeliverByStartSequence;
    config.OptStartSeq = from;
    config.FilterSubject = reads_all() ? nullptr : subject_.c_str();
    config.HeadersOnly = true;
    config.InactiveThreshold = kept_idle.count();
    config.MemoryStorage = true;
    config.Replicas = 1;
    // Where the stream's limits forbid that time, the server has one of its own.
    for (const bool is_last : {false, true}) {
        jsConsumerInfo* raw = nullptr;
        jsErrCode code{};
        const auto status = js_AddConsumer(&raw, jetstream_.get(), options_.stream.c_str(), &config,
                                           nullptr, &code);
        made.reset(raw);
        if (status == NATS_OK) {
            return std::optional<stop>{};
        }
        trouble_ = last_error_text(status);
        const bool passes =
            code == 0 || code == JSClusterNotAvailErr || code == JSClusterNotLeaderErr;
        if (passes) {
            return std::optional(stop::cut_short);
        }
        config.InactiveThreshold = 0;
        if (is_last) {
            refused_ = trouble_;
        }
    }
    return std::optional(stop::no_consumer);
}

result<stream_reading::stop> stream_reading::pass(reading_span& span,
                                                  const message_visitor& visit) {
    consumer_info_handle made;
    const auto stopped = make_consumer(span.next, made);
    if (!stopped) {
        return stopped.error();
    }
    if (*stopped) {
        if (auto why = lasting(span)) {
            return *why;
        }
        return **stopped;
    }
    if (made->Name == nullptr) {
        return no_answer_of_jetstream("a consumer of stream " + options_.stream);
    }
    const consumer_guard deleting(jetstream_.get(), options_.stream, made->Name);
    batch now{made->Name, made->NumPending};
    while (now.left > 0 && !span.is_over()) {
        const auto read = read_batch(span, now, visit);
        if (!read || *read != stop::at_the_end) {
            return read;
        }
    }
    return span.is_over() ? stop::at_the_end : stop::dried_up;
}

/// at_the_end: of the batch.
result<stream_reading::stop> stream_reading::read_batch(reading_span& span, batch& now,
                                                        const message_visitor& visit) {
    const auto wanted = std::min({pace_.size(), now.left, span.last - span.next + 1});
    const auto subject =
        options_.api + ".CONSUMER.MSG.NEXT." + options_.stream + "." + now.consumer;
    const auto inbox = inbox_ + std::to_string(++requests_);
    const auto request = R"({"no_wait":true,"batch":)" + std::to_string(wanted) + "}";
    if (const auto status = natsConnection_PublishRequestString(connection_, subject.c_str(),
                                                                inbox.c_str(), request.c_str());
        status != NATS_OK) {
        trouble_ = last_error_text(status);
    }
    for (now.got = 0; now.got < wanted && !span.is_over();) {
        const auto patience =
            now.got == 0 ? options_.timeout : std::min(options_.timeout, longest_silence);
        natsMsg* raw = nullptr;
        const auto status = natsSubscription_NextMsg(&raw, incoming_.get(), patience.count());
        const message_handle one(raw);
        if (status != NATS_OK) {
            trouble_ = last_error_text(status);
            if (auto why = lasting(span)) {
                return *why;
            }
            pace_.on_cut_short(now.got);
            return stop::dried_up;
        }
        const auto stopped = take(raw, span, now, visit);
        if (!stopped) {
            return stopped.error();
        }
        if (*stopped) {
            return **stopped;
        }
    }
    pace_.on_complete();
    return stop::at_the_end;
}

result<std::optional<stream_reading::stop>> stream_reading::take(natsMsg* one, reading_span& span,
                                                                 batch& now,
                                                                 const message_visitor& visit) {
    jsMsgMetaData* raw = nullptr;
    const auto known = natsMsg_GetMetaData(&raw, one);
    const message_data_handle data(raw);
    if (known != NATS_OK) {
        // Also of an earlier request.
        const bool is_of_this = natsMsg_GetSubject(one) == inbox_ + std::to_string(requests_);
        return is_of_this ? std::optional(end_of_batch(one)) : std::optional<stop>{};
    }
    if (data->Consumer == nullptr || now.consumer != data->Consumer) {
        return std::optional<stop>{};
    }
    if (data->Sequence.Consumer != now.consumed + 1) {
        trouble_ = "messages were lost on their way";
        pace_.on_cut_short(now.got);
        return std::optional(stop::cut_short);
    }
    ++now.consumed;
    ++now.got;
    now.left -= std::min<std::uint64_t>(now.left, 1);
    if (data->Sequence.Stream > span.last) {
        beyond_ = data->Sequence.Stream;
        span.next = span.last + 1;
        return std::optional<stop>{};
    }
    if (auto visited = visit({data->Sequence.Stream, to_wall_time(data->Timestamp), one});
        !visited) {
        return visited.error();
    }
    ++span.seen;
    span.next = data->Sequence.Stream + 1;
    return std::optional<stop>{};
}

stream_reading::stop stream_reading::end_of_batch(natsMsg* status) {
    constexpr std::string_view too_large = "MaxRequestBatch";
    const auto code = header_of(status, "Status");
    const auto words = header_of(status, "Description");
    trouble_ = fmt::format("{} {}", code, words);
    if (code == "404" || code == "408") {
        return stop::dried_up;
    }
    if (words.find(too_large) != std::string_view::npos) {
        pace_.limit_to(last_number_in(words));
    }
    return stop::cut_short;
}

// Without one.

/// What the leader says.
result<void> stream_reading::look_for_more(reading_span& span) {
    const auto next = next_from(connection_, options_, span.next, subject_);
    if (!next) {
        trouble_ = to_string(next.error());
        return next.error();
    }
    if (*next > span.last) {
        beyond_ = *next;
    }
    span.next = *next == 0 || *next > span.last ? span.last + 1 : *next;
    return {};
}

result<void> stream_reading::step(reading_span& span, const message_visitor& visit) {
    for (unsigned tries = 0; tries < tries_max; ++tries) {
        if (!reads_all() && look_for_more(span) && span.is_over()) {
            return {};
        }
        const auto found = message_at(jetstream_.get(), options_.stream, span.next);
        if (found && *found) {
            auto* const one = found->get();
            if (auto visited = visit({span.next, to_wall_time(natsMsg_GetTime(one)), one});
                !visited) {
                return visited;
            }
            ++span.seen;
            ++span.next;
            return {};
        }
        if (found && look_for_more(span)) {
            return {};
        }
        trouble_ = found ? trouble_ : to_string(found.error());
        if (lasting(span)) {
            break;
        }
        wait_before_try(tries);
    }
    return unread(span);
}

result<stream_info_handle> stream_reading::look(const reading_span& span) {
    for (unsigned tries = 0; tries < tries_max; ++tries) {
        jsStreamInfo* raw = nullptr;
        const auto status =
            js_GetStreamInfo(&raw, jetstream_.get(), options_.stream.c_str(), nullptr, nullptr);
        if (status == NATS_OK) {
            return stream_info_handle(raw);
        }
        trouble_ = last_error_text(status);
        if (lasting(span)) {
            break;
        }
        wait_before_try(tries);
    }
    return unread(span);
}

/// The server that answers leads the stream: what it does not count nobody can read.
result<void> stream_reading::prove_end(const reading_span& span) {
    const auto info = look(span);
    if (!info) {
        return info.error();
    }
    const auto& state = (*info)->State;
    if (state.LastSeq < span.last) {
        return ends_differ(options_.stream);
    }
    // Of one subject it counts none; there the leader was asked for a message after the last one.
    const auto least = reads_all() ? least_count({state.FirstSeq, state.LastSeq, state.Msgs},
                                                 span.first, span.last)
                                   : 0;
    if (span.seen < least) {
        return error{
            errc::broker_unavailable,
            fmt::format("stream {} could not be read up to sequence {}: {} messages came from "
                        "sequence {} on, and its leader has at least {}; which are left out is "
                        "unknown",
                        options_.stream, span.last, span.seen, span.first, least),
            "nothing, where it passes; a replica that stays behind is named by: nats stream info " +
                options_.stream};
    }
    return {};
}

}  // namespace walrelay::nats
