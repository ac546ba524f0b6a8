// Spans as the body of a request to a collector, and what its answer says. Pure.
// Source: OpenTelemetry Protocol Specification, "JSON Protobuf Encoding": ids are hex digits,
// enumerators and 32-bit numbers are numbers, 64-bit numbers are strings. The attributes are those
// of the semantic conventions for messaging spans, where they have one.
#pragma once

#include "traces/span.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace walrelay::traces {

/// What all spans of a process have in common.
struct origin {
    std::string service_name;
    /// Of walrelay.
    std::string version;
    std::string slot;
    std::string stream;
};

/// An ExportTraceServiceRequest.
[[nodiscard]] std::string otlp_json(const origin& of, std::span<const span> spans);

/// How many spans the collector has left out, by its answer to a request that it took: 0 where it
/// says nothing of that.
[[nodiscard]] std::uint64_t rejected_spans(std::string_view answer);

}  // namespace walrelay::traces
