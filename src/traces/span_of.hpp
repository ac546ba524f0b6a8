// Whether a message belongs to a trace that somebody keeps, and its span. Pure.
#pragma once

#include "core/acked_message.hpp"
#include "traces/span.hpp"

#include <optional>

namespace walrelay::traces {

/// Nothing without a valid `traceparent` whose flags say that the trace is sampled. `id` is left
/// for the caller. The clocks of PostgreSQL and of the relay may differ: a span that would begin
/// after its publish begins with it, as one does whose commit is not known.
[[nodiscard]] std::optional<span> span_of(const acked_message& what);

}  // namespace walrelay::traces
