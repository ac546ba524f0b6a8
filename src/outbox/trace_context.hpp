// W3C trace context (traceparent, tracestate) out of a row's metadata.
#pragma once

#include <simdjson.h>

#include <optional>
#include <string>
#include <string_view>

namespace walrelay::outbox {

struct trace_context {
    std::optional<std::string_view> traceparent;
    std::optional<std::string_view> tracestate;
};

/// Keeps the memory of its parser from row to row.
class trace_context_reader {
public:
    /// The string members of those names at the top of a JSON object; of two of one name the last,
    /// as in jsonb. Nothing where `metadata` is no such thing: tracing is not worth a lost event.
    /// The views live until the next call.
    [[nodiscard]] trace_context read(std::string_view metadata);

private:
    simdjson::ondemand::parser parser_;
    std::string padded_;
};

}  // namespace walrelay::outbox
