#include "outbox/body.hpp"

#include "outbox/bytea.hpp"
#include "outbox/complaints.hpp"
#include "outbox/json_value.hpp"

#include <array>

namespace walrelay::outbox {
namespace {

struct event_member {
    std::string_view key;
    column_role role;
};

constexpr std::array<event_member, role_count> event_members = {{
    {"\"id\":", column_role::id},
    {"\"aggregate_id\":", column_role::aggregate_id},
    {"\"aggregate_type\":", column_role::aggregate_type},
    {"\"event_type\":", column_role::event_type},
    {"\"event_data\":", column_role::payload},
    {"\"metadata\":", column_role::metadata},
    {"\"version\":", column_role::version},
    {"\"timestamp\":", column_role::created_at},
}};

/// What an event body of the row takes unless much of it is to be escaped: a large one is then
/// allocated once.
std::size_t likely_bytes(const row_view& view) {
    constexpr std::size_t keys_bytes = 160;
    std::size_t bytes = keys_bytes;
    for (const auto& each : view.row.fields) {
        bytes += each ? each->size() : 0;
    }
    return bytes;
}

constexpr const char* value_fix = "correct the value in the row, or map another column";

result<void> append_member(const row_view& view, const used_column& used, std::string& body) {
    const auto& value = view.row.fields[used.index];
    if (!value) {
        body += "null";
        return {};
    }
    if (const auto wrong = append_json_value(body, *value, used.kind); !wrong.empty()) {
        return unmappable(view, used.index, wrong, value_fix);
    }
    return {};
}

}  // namespace

result<void> append_event_body(const row_view& view, std::string& body) {
    body.reserve(body.size() + likely_bytes(view));
    char separator = '{';
    for (const auto& member : event_members) {
        const auto& used = view.columns.playing(member.role);
        if (!used) {
            continue;
        }
        body += separator;
        body += member.key;
        separator = ',';
        if (auto appended = append_member(view, *used, body); !appended) {
            return appended;
        }
    }
    body += separator == '{' ? "{}" : "}";
    return {};
}

result<void> append_column(const row_view& view, column_role role, std::string& bytes) {
    const auto value = view.value(role);
    if (!value) {
        return {};
    }
    const auto& used = *view.columns.playing(role);
    if (used.kind != type_kind::bytea) {
        bytes += *value;
    } else if (!append_bytes(bytes, *value)) {
        return unmappable(view, used.index, complaint::not_hexadecimal, value_fix);
    }
    return {};
}

result<void> append_payload_body(const row_view& view, std::string& body) {
    if (!view.value(column_role::payload) && !view.plan.keeps_tombstones) {
        return unmappable(view, view.columns.playing(column_role::payload)->index,
                          "is NULL, but the body is made of the payload",
                          "give the row a payload, or set outbox.null_payload = \"tombstone\", or "
                          "another outbox.body, and start again");
    }
    return append_column(view, column_role::payload, body);
}

bool is_tombstone(const row_view& view) {
    return view.plan.body == body_format::payload && view.plan.keeps_tombstones &&
           !view.value(column_role::payload);
}

std::string_view content_type_of(const row_view& view) {
    switch (view.plan.body) {
        case body_format::event:
            return "application/json";
        case body_format::protobuf:
            return "application/x-protobuf";
        case body_format::payload:
        case body_format::cloudevents:
            break;
    }
    if (!view.value(column_role::payload)) {
        return {};
    }
    return media_type_of(view.columns.playing(column_role::payload)->kind);
}

}  // namespace walrelay::outbox
