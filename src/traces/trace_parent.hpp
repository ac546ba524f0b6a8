// The header `traceparent` of a message. Pure.
// Source: W3C Trace Context, "traceparent Header", www.w3.org/TR/trace-context.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace walrelay::traces {

/// Hex digits in lower case, as they stand there.
using trace_id = std::array<char, 32>;
using span_id = std::array<char, 16>;

struct trace_parent {
    traces::trace_id trace{};
    traces::span_id span{};
    bool is_sampled = false;

    friend bool operator==(const trace_parent&, const trace_parent&) = default;
};

/// Nothing where it is not valid. A later version may have more behind the flags, which is left
/// out.
[[nodiscard]] std::optional<trace_parent> parse_trace_parent(std::string_view text);

}  // namespace walrelay::traces
