#include "traces/span_of.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace walrelay::traces {
namespace {

/// The last one of that name, as in the status and in the log; empty where there is none.
std::string_view header_of(const message& content, std::string_view name) {
    for (std::size_t index = content.header_count(); index > 0; --index) {
        const auto& each = content.header_at(index - 1);
        if (each.name == name) {
            return each.value;
        }
    }
    return {};
}

wall_time start_of(const acked_message& what) {
    const auto& content = what.content;
    const bool is_known =
        content.committed_at != wall_time{} && !is_of_a_snapshot(content.where.at);
    return is_known ? std::min(content.committed_at, what.published_at) : what.published_at;
}

}  // namespace

std::optional<span> span_of(const acked_message& what) {
    const auto& content = what.content;
    const auto parent = parse_trace_parent(header_of(content, "traceparent"));
    if (!parent || !parent->is_sampled) {
        return std::nullopt;
    }
    span made;
    made.parent = *parent;
    made.trace_state = header_of(content, "tracestate");
    made.committed_at = start_of(what);
    made.published_at = what.published_at;
    made.acked_at = std::max(what.acked_at, what.published_at);
    made.subject = content.subject;
    made.message_id = content.id;
    made.body_bytes = content.body.size();
    made.where = content.where;
    made.cause = content.cause;
    made.sequence = what.sequence;
    return made;
}

}  // namespace walrelay::traces
