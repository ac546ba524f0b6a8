#include "outbox/header_writer.hpp"

#include "outbox/header_value.hpp"
#include "outbox/timestamp.hpp"

namespace walrelay::outbox {

field header_writer::value_of(const std::optional<used_column>& used) const {
    return used ? view_.row.fields[used->index] : std::nullopt;
}

void header_writer::add_unless_empty(std::string_view name, std::string_view value) {
    if (!value.empty()) {
        out_.add_header(name, value);
    }
}

void header_writer::add_built_in(std::string_view name, std::string_view value) {
    if (view_.plan.headers.empty() || !sets_header(view_.plan, name)) {
        add_unless_empty(name, value);
    }
}

void header_writer::add_text(std::string_view name, const field& value) {
    if (value) {
        scratch_.encoded.clear();
        append_header_value(scratch_.encoded, *value);
        add_built_in(name, scratch_.encoded);
    }
}

void header_writer::add_position() {
    auto& known = scratch_.transaction_of;
    if (scratch_.transaction.empty() || known.origin != view_.where.origin ||
        known.at.commit != view_.where.at.commit) {
        known = view_.where;
        scratch_.transaction.clear();
        append_transaction(scratch_.transaction, known);
    }
    scratch_.encoded.assign(scratch_.transaction);
    append_row(scratch_.encoded, view_.where);
    out_.add_header("Walrelay-Position", scratch_.encoded);
}

void header_writer::add_content_type(std::string_view media_type) {
    if (!media_type.empty()) {
        add_built_in("Content-Type", media_type);
    }
}

void header_writer::add_tombstone() {
    out_.add_header("Walrelay-Tombstone", "true");
}

void header_writer::add_trace(trace_context_reader& reader) {
    field traceparent = value_of(view_.columns.traceparent);
    field tracestate = value_of(view_.columns.tracestate);
    if (!traceparent || !tracestate) {
        if (const auto metadata = view_.value(column_role::metadata)) {
            const auto found = reader.read(*metadata);
            traceparent = traceparent ? traceparent : found.traceparent;
            tracestate = tracestate ? tracestate : found.tracestate;
        }
    }
    add_text("traceparent", traceparent);
    add_text("tracestate", tracestate);
}

void header_writer::add_attribute(std::string_view name, std::string_view value) {
    scratch_.encoded.clear();
    append_cloudevents_value(scratch_.encoded, value);
    add_built_in(name, scratch_.encoded);
}

void header_writer::add_time() {
    const auto& used = view_.columns.playing(column_role::created_at);
    const auto text = view_.value(column_role::created_at);
    const auto created_at =
        text && used->kind == type_kind::timestamp ? parse_timestamp(*text) : std::nullopt;
    scratch_.encoded.clear();
    if (append_rfc3339(scratch_.encoded, created_at.value_or(out_.committed_at))) {
        add_built_in("ce-time", scratch_.encoded);
    }
}

void header_writer::add_cloudevents(std::string_view id, std::string_view media_type) {
    add_built_in("ce-specversion", "1.0");
    add_attribute("ce-id", id);
    add_attribute("ce-source", view_.plan.source);
    const auto type = view_.value(column_role::event_type);
    add_attribute("ce-type", type && !type->empty() ? *type : view_.plan.default_event_type);
    const auto subject = view_.value(column_role::aggregate_id);
    if (subject && !subject->empty()) {
        add_attribute("ce-subject", *subject);
    }
    add_time();
    // This binding, unlike that of HTTP, does not read the attribute from Content-Type.
    if (!media_type.empty()) {
        add_attribute("ce-datacontenttype", media_type);
    }
}

void header_writer::add_configured() {
    for (std::size_t index = 0; index < view_.plan.headers.size(); ++index) {
        const auto& header = view_.plan.headers[index];
        std::uint32_t culprit = 0;
        scratch_.rendered.clear();
        const bool complete = render(
            header.value, view_.columns.headers[index], view_.row.fields, culprit,
            [this](std::string_view json, std::string_view key) {
                return scratch_.members.read(json, key);
            },
            [this](std::string_view literal) { scratch_.rendered += literal; },
            [this](const field& value) {
                scratch_.rendered += value.value_or("");
                return value.has_value();
            });
        if (complete) {
            scratch_.encoded.clear();
            append_header_value(scratch_.encoded, scratch_.rendered);
            add_unless_empty(header.name, scratch_.encoded);
        }
    }
}

}  // namespace walrelay::outbox
