#include "outbox/table_mapper.hpp"

#include "core/assert.hpp"
#include "core/bytea_text.hpp"
#include "outbox/addressing.hpp"
#include "outbox/body.hpp"
#include "outbox/header_value.hpp"
#include "outbox/header_writer.hpp"
#include "outbox/protobuf_body.hpp"
#include "outbox/resolved_columns.hpp"
#include "outbox/row_view.hpp"
#include "outbox/subject.hpp"
#include "outbox/table_plan.hpp"
#include "outbox/trace_context.hpp"

#include <unordered_map>

namespace walrelay::outbox {
namespace {

/// The server takes 64 KiB (error 10097); the rest is for what the lane adds.
constexpr std::size_t header_block_limit_bytes = 60UL * 1024;
constexpr std::size_t kept_relations = 1024;

result<void> check_header_block(const row_view& view, const message& out) {
    constexpr std::size_t punctuation_bytes = 4;  // ": " and CR LF
    std::size_t total = out.id.size();
    for (std::size_t index = 0; index < out.header_count(); ++index) {
        const auto& each = out.header_at(index);
        total += each.name.size() + each.value.size() + punctuation_bytes;
    }
    if (total > header_block_limit_bytes) {
        return unmappable(view,
                          "the headers would have " + std::to_string(total) +
                              " bytes, more than the " + std::to_string(header_block_limit_bytes) +
                              " that are allowed",
                          "take long columns out of headers in the configuration");
    }
    return {};
}

}  // namespace

struct table_mapper::state {
    table_plan plan;
    domain_types domains;
    made_types made;
    std::unordered_map<std::uint64_t, resolved_columns> resolved;
    std::uint64_t last_revision = 0;
    const resolved_columns* last = nullptr;
    std::string id;
    std::vector<field> fields;
    header_scratch scratch;
    trace_context_reader trace;
    protobuf_body protobuf;
    bool keeps_aggregates = false;

    const resolved_columns& columns_of(const relation& table);
    result<void> fill_body(const row_view& view, std::string& body);
    void add_headers(const row_view& view, message& out);
    static void fill_aggregate(const row_view& view, message& out);
    void forget();
};

void table_mapper::state::forget() {
    last = nullptr;
    resolved.clear();
}

const resolved_columns& table_mapper::state::columns_of(const relation& table) {
    if (last != nullptr && last_revision == table.revision) {
        return *last;
    }
    auto found = resolved.find(table.revision);
    if (found == resolved.end()) {
        if (resolved.size() >= kept_relations) {
            forget();
        }
        found = resolved.emplace(table.revision, resolve(plan, table.columns, domains, made)).first;
    }
    last_revision = table.revision;
    last = &found->second;
    return *last;
}

result<void> table_mapper::state::fill_body(const row_view& view, std::string& body) {
    switch (plan.body) {
        case body_format::event:
            return append_event_body(view, body);
        case body_format::payload:
            return append_payload_body(view, body);
        case body_format::cloudevents:
            return append_column(view, column_role::payload, body);
        case body_format::protobuf:
            return protobuf.append(view, body);
    }
    return {};
}

void table_mapper::state::add_headers(const row_view& view, message& out) {
    header_writer headers(view, out, scratch);
    const auto media_type = content_type_of(view);
    headers.add_position();
    headers.add_content_type(media_type);
    if (is_tombstone(view)) {
        headers.add_tombstone();
    }
    headers.add_trace(trace);
    if (plan.body == body_format::cloudevents) {
        headers.add_cloudevents(id, media_type);
    }
    headers.add_configured();
}

void table_mapper::state::fill_aggregate(const row_view& view, message& out) {
    const auto id = view.value(column_role::aggregate_id);
    if (!id) {
        out.aggregate = out.subject;
        return;
    }
    // No type holds a NUL, so that no two pairs give the same text.
    out.aggregate = view.value(column_role::aggregate_type).value_or("");
    out.aggregate += '\0';
    out.aggregate += *id;
}

result<table_mapper> table_mapper::make(const outbox_table& table) {
    auto plan = make_plan(table);
    if (!plan) {
        return plan.error();
    }
    auto initial = std::make_unique<state>();
    initial->plan = std::move(*plan);
    return table_mapper(std::move(initial));
}

table_mapper::table_mapper(std::unique_ptr<state> initial) : state_(std::move(initial)) {}
table_mapper::table_mapper(table_mapper&&) noexcept = default;
table_mapper& table_mapper::operator=(table_mapper&&) noexcept = default;
table_mapper::~table_mapper() = default;

void table_mapper::set_domains(domain_types domains, made_types made) {
    state_->domains = std::move(domains);
    state_->made = std::move(made);
    state_->forget();
}

result<void> table_mapper::map(const row_insert& row, message& out) {
    WALRELAY_ASSERT(row.table != nullptr && row.fields.size() == row.table->columns.size());
    const auto& columns = state_->columns_of(*row.table);
    const auto plain = with_plain_byteas(row, columns, state_->fields);
    const row_view view{state_->plan, columns, plain, out.where};
    // The id first: a row without a subject is known by it among the dead letters, and one of which
    // the WAL leaves out a column in the stream.
    if (columns.has_message_id || columns.problems.empty()) {
        if (auto rendered = render_message_id(view, state_->id); !rendered) {
            return rendered;
        }
        append_message_id(out.id, state_->id);
    }
    if (!columns.problems.empty()) {
        return unmappable(view, columns.problems.front(), "change the table or its configuration");
    }
    if (auto filled = render_subject(view, out.subject); !filled) {
        return filled;
    }
    if (state_->keeps_aggregates) {
        state_->fill_aggregate(view, out);
    }
    if (auto filled = state_->fill_body(view, out.body); !filled) {
        return filled;
    }
    state_->add_headers(view, out);
    return check_header_block(view, out);
}

field table_mapper::id_of(const row_insert& row) {
    const auto& used = state_->columns_of(*row.table).playing(column_role::id);
    if (!used || !row.fields[used->index]) {
        return std::nullopt;
    }
    const auto text = *row.fields[used->index];
    return used->kind == type_kind::bytea ? digits_of_bytea(text) : text;
}

std::string_view table_mapper::id_column_of(const row_insert& row) {
    const auto& used = state_->columns_of(*row.table).playing(column_role::id);
    return used ? std::string_view(row.table->columns[used->index].name) : std::string_view();
}

void table_mapper::keep_aggregates() {
    state_->keeps_aggregates = true;
}

const table_name& table_mapper::table() const {
    return state_->plan.table;
}

const std::string& table_mapper::message_prefix() const {
    return state_->plan.message_prefix;
}

std::vector<std::string> table_mapper::named_columns() const {
    const auto& plan = state_->plan;
    std::vector<const text_template*> templates{&plan.subject, &plan.message_id};
    for (const auto& header : plan.headers) {
        templates.push_back(&header.value);
    }
    std::vector<std::string> columns;
    for (const auto* each : templates) {
        for (const auto& part : each->parts()) {
            for (const auto& name : part.names) {
                const auto role = role_named(name);
                const auto named =
                    role ? configured_column(plan.columns, *role).value_or("") : std::string();
                columns.push_back(named.empty() ? name : named);
            }
        }
    }
    return columns;
}

std::vector<std::string> table_mapper::problems_with(const std::vector<column>& columns) const {
    return resolve(state_->plan, columns, state_->domains, state_->made).problems;
}

std::string table_mapper::subject_pattern() const {
    return outbox::subject_pattern(state_->plan.subject);
}

}  // namespace walrelay::outbox
