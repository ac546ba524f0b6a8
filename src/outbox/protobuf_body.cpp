#include "outbox/protobuf_body.hpp"

#include "outbox/body.hpp"
#include "outbox/complaints.hpp"
#include "outbox/timestamp.hpp"

#include <charconv>

namespace walrelay::outbox {
namespace {

constexpr const char* field_fix = "correct the value in the row, or map another column";

}  // namespace

result<void> protobuf_body::append(const row_view& view, std::string& body) {
    event_.Clear();
    if (auto filled = fill(view); !filled) {
        return filled;
    }
    if (!event_.AppendToString(&body)) {
        return unmappable(view, "the event exceeds the 2 GiB that a protobuf message can have",
                          "use another body");
    }
    return {};
}

result<void> protobuf_body::fill(const row_view& view) {
    if (const auto id = view.value(column_role::id)) {
        event_.mutable_id()->assign(*id);
    }
    if (const auto aggregate_type = view.value(column_role::aggregate_type)) {
        event_.mutable_aggregate_type()->assign(*aggregate_type);
    }
    if (const auto aggregate_id = view.value(column_role::aggregate_id)) {
        event_.mutable_aggregate_id()->assign(*aggregate_id);
    }
    if (const auto event_type = view.value(column_role::event_type)) {
        event_.mutable_event_type()->assign(*event_type);
    }
    if (view.value(column_role::payload)) {
        const auto kind = view.columns.playing(column_role::payload)->kind;
        event_.mutable_data_content_type()->assign(media_type_of(kind));
        if (auto appended = append_column(view, column_role::payload, *event_.mutable_data());
            !appended) {
            return appended;
        }
    }
    if (view.value(column_role::metadata)) {
        if (auto appended = append_column(view, column_role::metadata, *event_.mutable_metadata());
            !appended) {
            return appended;
        }
    }
    append_to(*event_.mutable_position(), view.where);
    if (auto filled = fill_version(view); !filled) {
        return filled;
    }
    return fill_timestamp(view);
}

result<void> protobuf_body::fill_version(const row_view& view) {
    const auto text = view.value(column_role::version);
    if (!text) {
        return {};
    }
    std::int64_t version = 0;
    const char* const end = text->data() + text->size();
    const auto [stop, failure] = std::from_chars(text->data(), end, version);
    if (failure != std::errc{} || stop != end) {
        return unmappable(view, view.columns.playing(column_role::version)->index,
                          complaint::not_int64, field_fix);
    }
    event_.set_version(version);
    return {};
}

result<void> protobuf_body::fill_timestamp(const row_view& view) {
    const auto text = view.value(column_role::created_at);
    if (!text || view.columns.playing(column_role::created_at)->kind != type_kind::timestamp) {
        return {};
    }
    const auto when = parse_timestamp(*text);
    if (!when) {
        return unmappable(view, view.columns.playing(column_role::created_at)->index,
                          complaint::not_rfc3339, field_fix);
    }
    const auto whole = std::chrono::floor<std::chrono::seconds>(*when);
    event_.mutable_timestamp()->set_seconds(whole.time_since_epoch().count());
    event_.mutable_timestamp()->set_nanos(
        static_cast<std::int32_t>(std::chrono::nanoseconds(*when - whole).count()));
    return {};
}

}  // namespace walrelay::outbox
