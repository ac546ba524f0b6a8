#include "traces/otlp_json.hpp"

#include "core/json_string.hpp"
#include "core/lsn.hpp"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace walrelay::traces {
namespace {

/// SPAN_KIND_PRODUCER.
constexpr std::string_view producer = "4";
/// Sampled; and it is known of the parent that it is of another process. Source: SpanFlags in
/// opentelemetry/proto/trace/v1/trace.proto.
constexpr std::string_view flags = "769";

std::string in_quotes(std::string_view plain) {
    return '"' + std::string(plain) + '"';
}

template <class Id>
std::string quoted_id(const Id& digits) {
    return in_quotes({digits.data(), digits.size()});
}

std::string hex_of(std::uint64_t number) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text(std::size(span_id()), '0');
    std::for_each(text.rbegin(), text.rend(), [&](char& each) {
        each = digits[number % digits.size()];
        number /= digits.size();
    });
    return text;
}

/// Unix time in nanoseconds.
std::string time_of(wall_time when) {
    using std::chrono::nanoseconds;
    const auto since = std::chrono::duration_cast<nanoseconds>(when.time_since_epoch()).count();
    return in_quotes(std::to_string(std::max<nanoseconds::rep>(since, 0)));
}

/// The list of attributes of one thing.
class attributes {
public:
    void text(std::string_view key, std::string_view value) {
        add(key, R"("stringValue":)", json_string(value));
    }
    void number(std::string_view key, std::uint64_t value) {
        add(key, R"("intValue":)", in_quotes(std::to_string(value)));
    }
    [[nodiscard]] std::string list() const { return '[' + list_ + ']'; }

private:
    void add(std::string_view key, std::string_view kind, const std::string& value) {
        list_ += list_.empty() ? R"({"key":")" : R"(,{"key":")";
        list_ += key;
        list_ += R"(","value":{)";
        list_ += kind;
        list_ += value;
        list_ += "}}";
    }

    std::string list_;
};

std::string attributes_of(const origin& of, const span& one) {
    attributes made;
    made.text("messaging.system", "nats");
    made.text("messaging.operation.name", "publish");
    made.text("messaging.operation.type", "send");
    made.text("messaging.destination.name", one.subject);
    made.text("messaging.message.id", one.message_id);
    made.number("messaging.message.body.size", one.body_bytes);
    made.text("walrelay.stream", of.stream);
    made.number("walrelay.stream_sequence", one.sequence);
    made.text("walrelay.lsn", to_string(one.where.at.commit));
    made.text("walrelay.position", to_string(one.where));
    made.text("walrelay.cause", to_string(one.cause));
    return made.list();
}

std::string event_of(std::string_view name, wall_time when) {
    return R"({"timeUnixNano":)" + time_of(when) + R"(,"name":)" + in_quotes(name) + '}';
}

std::string span_json(const origin& of, const span& one) {
    std::string text = R"({"traceId":)" + quoted_id(one.parent.trace);
    text += R"(,"spanId":)" + in_quotes(hex_of(one.id));
    if (!one.trace_state.empty()) {
        text += R"(,"traceState":)" + json_string(one.trace_state);
    }
    text += R"(,"parentSpanId":)" + quoted_id(one.parent.span);
    text += R"(,"flags":)" + std::string(flags);
    // The subject may hold ids, and a name should not.
    text += R"(,"name":)" + json_string("publish " + of.stream);
    text += R"(,"kind":)" + std::string(producer);
    text += R"(,"startTimeUnixNano":)" + time_of(one.committed_at);
    text += R"(,"endTimeUnixNano":)" + time_of(one.acked_at);
    text += R"(,"attributes":)" + attributes_of(of, one);
    text += R"(,"events":[)" + event_of("published", one.published_at) + ',' +
            event_of("acked", one.acked_at) + "]}";
    return text;
}

std::string resource_of(const origin& of) {
    attributes made;
    made.text("service.name", of.service_name);
    made.text("service.version", of.version);
    made.text("walrelay.slot", of.slot);
    return made.list();
}

std::uint64_t number_in(std::string_view text) {
    std::uint64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [stopped, failure] = std::from_chars(text.data(), end, number);
    return failure == std::errc() && stopped == end ? number : 0;
}

}  // namespace

std::string otlp_json(const origin& of, std::span<const span> spans) {
    std::string text = R"({"resourceSpans":[{"resource":{"attributes":)" + resource_of(of);
    text += R"(},"scopeSpans":[{"scope":{"name":"walrelay","version":)" + json_string(of.version);
    text += R"(},"spans":[)";
    for (const auto& each : spans) {
        text += span_json(of, each);
        text += ',';
    }
    if (!spans.empty()) {
        text.pop_back();
    }
    return text + "]}]}]}";
}

std::uint64_t rejected_spans(std::string_view answer) {
    simdjson::ondemand::parser parser;
    const simdjson::padded_string padded(answer);
    simdjson::ondemand::document document;
    simdjson::ondemand::value rejected;
    if (parser.iterate(padded).get(document) != simdjson::SUCCESS ||
        document["partialSuccess"]["rejectedSpans"].get(rejected) != simdjson::SUCCESS) {
        return 0;
    }
    std::string_view text;
    if (rejected.get_string().get(text) == simdjson::SUCCESS) {
        return number_in(text);
    }
    std::uint64_t number = 0;
    return rejected.get_uint64().get(number) == simdjson::SUCCESS ? number : 0;
}

}  // namespace walrelay::traces
