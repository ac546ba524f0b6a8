#include "relay/intake/control_row.hpp"

#include <simdjson.h>

#include <array>
#include <charconv>
#include <limits>
#include <utility>

namespace walrelay::relay {
namespace {

using simdjson::dom::element;

error malformed(std::string_view what) {
    return {errc::row_unmappable, "a row of walrelay.control " + std::string(what),
            "let nobody write there but `walrelay dead-letter retry` and the relay itself: "
            "\\dp walrelay.control in psql shows who may"};
}

std::optional<std::uint64_t> number_of(const field& value) {
    std::uint64_t number = 0;
    const auto text = value.value_or("");
    const auto* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, number);
    return read.ec == std::errc{} && read.ptr == end ? std::optional(number) : std::nullopt;
}

std::optional<std::string> text_at(const element& parent, std::string_view key) {
    std::string_view text;
    if (parent[key].get(text) != simdjson::SUCCESS) {
        return std::nullopt;
    }
    return std::string(text);
}

struct parsed_column {
    column about;
    std::optional<std::string> value;
};

std::optional<parsed_column> read_column(const element& from) {
    parsed_column read;
    auto name = text_at(from, "name");
    std::uint64_t type = 0;
    element value;
    if (!name || from["type"].get(type) != simdjson::SUCCESS ||
        type > std::numeric_limits<type_oid>::max() ||
        from["value"].get(value) != simdjson::SUCCESS) {
        return std::nullopt;
    }
    read.about = {std::move(*name), static_cast<type_oid>(type)};
    if (value.is_null()) {
        return read;
    }
    read.value = text_at(from, "value");
    if (!read.value) {
        return std::nullopt;
    }
    return read;
}

}  // namespace

control_row read_control(const row_insert& row) {
    control_row read;
    const std::array<std::pair<std::string_view, field*>, 7> wanted = {
        {{"kind", &read.kind},
         {"slot", &read.slot},
         {"dead_letter", &read.dead_letter},
         {"retry", &read.retry},
         {"source_schema", &read.source_schema},
         {"source_table", &read.source_table},
         {"event", &read.event}}};
    for (std::size_t index = 0; index < row.fields.size(); ++index) {
        for (const auto& [name, into] : wanted) {
            if (row.table->columns[index].name == name) {
                *into = row.fields[index];
            }
        }
    }
    return read;
}

result<retry_request> retry_request::parse(const control_row& row, std::uint64_t revision) {
    const auto letter = number_of(row.dead_letter);
    const auto count = number_of(row.retry);
    if (!letter || !count || !row.source_schema || !row.source_table || !row.event) {
        return malformed("lacks its table, its numbers or its event");
    }
    retry_request made;
    made.occasion_ = "retry-" + std::to_string(*letter) + "-" + std::to_string(*count);
    made.table_ = std::make_unique<relation>(
        relation{std::string(*row.source_schema), std::string(*row.source_table), {}, revision});
    if (auto taken = made.take_event(*row.event); !taken) {
        return taken.error();
    }
    return made;
}

result<void> retry_request::take_event(std::string_view event) {
    simdjson::dom::parser parser;
    simdjson::dom::array columns;
    if (parser.parse(event.data(), event.size()).get(columns) != simdjson::SUCCESS) {
        return malformed("has an event that is no JSON array");
    }
    values_ = std::make_unique<std::vector<std::string>>();
    // A view must not move with a growing vector.
    values_->reserve(columns.size());
    for (const element each : columns) {
        auto read = read_column(each);
        if (!read) {
            return malformed("holds a column without a name, type and value");
        }
        table_->columns.push_back(std::move(read->about));
        if (read->value) {
            values_->push_back(std::move(*read->value));
            fields_.emplace_back(values_->back());
        } else {
            fields_.emplace_back(std::nullopt);
        }
    }
    return {};
}

}  // namespace walrelay::relay
