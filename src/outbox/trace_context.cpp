#include "outbox/trace_context.hpp"

#include <utility>

namespace walrelay::outbox {
namespace {

constexpr std::string_view traceparent = "traceparent";
constexpr std::string_view tracestate = "tracestate";

/// Most rows carry no trace: this spares them the parser.
bool may_have_trace(std::string_view metadata) {
    return memmem(metadata.data(), metadata.size(), traceparent.data(), traceparent.size()) !=
           nullptr;
}

/// False if the JSON is broken here.
bool read_member(simdjson::ondemand::field member, trace_context& found) {
    std::string_view name;
    simdjson::ondemand::json_type type{};
    if (member.unescaped_key().get(name) != simdjson::SUCCESS ||
        member.value().type().get(type) != simdjson::SUCCESS) {
        return false;
    }
    if ((name != traceparent && name != tracestate) ||
        type != simdjson::ondemand::json_type::string) {
        return true;
    }
    std::string_view value;
    if (member.value().get_string().get(value) != simdjson::SUCCESS) {
        return false;
    }
    (name == traceparent ? found.traceparent : found.tracestate) = value;
    return true;
}

}  // namespace

trace_context trace_context_reader::read(std::string_view metadata) {
    if (!may_have_trace(metadata)) {
        return {};
    }
    padded_.assign(metadata);
    padded_.append(simdjson::SIMDJSON_PADDING, '\0');
    simdjson::ondemand::document document;
    simdjson::ondemand::object object;
    if (parser_.iterate(padded_.data(), metadata.size(), padded_.size()).get(document) !=
            simdjson::SUCCESS ||
        document.get_object().get(object) != simdjson::SUCCESS) {
        return {};
    }
    trace_context found;
    for (auto each : object) {
        simdjson::ondemand::field member;
        if (std::move(each).get(member) != simdjson::SUCCESS || !read_member(member, found)) {
            return {};
        }
    }
    return found;
}

}  // namespace walrelay::outbox
