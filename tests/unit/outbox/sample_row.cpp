#include "unit/outbox/sample_row.hpp"

#include <algorithm>
#include <stdexcept>

namespace walrelay::test {

sample_row::sample_row() {
    table_.schema = "public";
    table_.name = "outbox_events";
    table_.revision = 1;
}

sample_row& sample_row::with(const std::string& name, type_oid type,
                             std::optional<std::string> value) {
    auto& columns = table_.columns;
    const auto place = std::find_if(columns.begin(), columns.end(),
                                    [&name](const column& each) { return each.name == name; });
    const auto index = static_cast<std::size_t>(place - columns.begin());
    if (place == columns.end()) {
        columns.emplace_back();
        fields_.emplace_back();
    }
    columns[index] = {name, type};
    values_.push_back(std::move(value));
    fields_[index] = values_.back();
    return *this;
}

sample_row& sample_row::revised(std::uint64_t revision) {
    table_.revision = revision;
    return *this;
}

void fill_usual(sample_row& row) {
    row.with("aggregate_id", type::varchar, "7")
        .with("id", type::int8, "42")
        .with("aggregate_type", type::varchar, "order")
        .with("event_type", type::varchar, "placed")
        .with("event_data", type::jsonb, R"({"total": 1.50, "note": "ü"})")
        .with("status", type::varchar, "pending")
        .with("metadata", type::jsonb, R"({"source": "shop"})")
        .with("version", type::int8, "3")
        .with("created_at", type::timestamptz, "2024-02-29 12:30:05.25+00");
}

outbox_table usual_table() {
    outbox_table table;
    table.table = {"public", "outbox_events"};
    return table;
}

message fresh_message() {
    message fresh;
    fresh.where = {{7301, 2}, {lsn{0x1000000A0}, lsn{0x100000050}, 5}};
    fresh.committed_at = std::chrono::sys_days(std::chrono::year(2024) / 3 / 1);
    return fresh;
}

message map_row(const outbox_table& table, const sample_row& row) {
    auto mapper = outbox::table_mapper::make(table).value();
    auto out = fresh_message();
    mapper.map(row.insert(), out).value();
    return out;
}

std::string refusal(const outbox_table& table, const sample_row& row) {
    auto mapper = outbox::table_mapper::make(table).value();
    auto out = fresh_message();
    const auto mapped = mapper.map(row.insert(), out);
    if (mapped) {
        return {};
    }
    if (mapped.error().code != errc::row_unmappable) {
        throw std::logic_error("refused with another code: " + to_string(mapped.error()));
    }
    return mapped.error().what;
}

std::optional<std::string> header_of(const message& sent, std::string_view name) {
    std::optional<std::string> value;
    for (std::size_t index = 0; index < sent.header_count(); ++index) {
        if (sent.header_at(index).name == name) {
            if (value) {
                throw std::logic_error("two headers of one name: " + std::string(name));
            }
            value = sent.header_at(index).value;
        }
    }
    return value;
}

std::vector<std::string> header_names(const message& sent) {
    std::vector<std::string> names;
    for (std::size_t index = 0; index < sent.header_count(); ++index) {
        names.push_back(sent.header_at(index).name);
    }
    return names;
}

}  // namespace walrelay::test
