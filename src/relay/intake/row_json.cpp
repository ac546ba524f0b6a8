#include "relay/intake/row_json.hpp"

#include "outbox/json_value.hpp"

#include <simdjson.h>

#include <limits>
#include <utility>

namespace walrelay::relay {
namespace {

using json_element = simdjson::dom::element;

void append_column(std::string& json, const column& about, const field& value) {
    json += R"({"name":)";
    outbox::append_json_string(json, about.name);
    json += R"(,"type":)";
    json += std::to_string(about.type);
    json += R"(,"value":)";
    if (value) {
        outbox::append_json_string(json, *value);
    } else {
        json += "null";
    }
    json += '}';
}

/// Quotes of JSON in JSON take a byte more each. A string that grows instead is twice there while
/// it does.
std::size_t likely_bytes(const row_insert& row) {
    constexpr std::size_t around_a_value = 64;
    std::size_t bytes = 0;
    for (const auto& each : row.fields) {
        bytes += around_a_value + (each ? each->size() + each->size() / 8 : 0);
    }
    return bytes;
}

std::optional<std::string> text_at(const json_element& parent, std::string_view key) {
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

std::optional<parsed_column> read_column(const json_element& from) {
    parsed_column read;
    auto name = text_at(from, "name");
    std::uint64_t type = 0;
    json_element value;
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

std::string row_as_json(const row_insert& row) {
    std::string json;
    json.reserve(likely_bytes(row));
    json += '[';
    for (std::size_t index = 0; index < row.fields.size(); ++index) {
        if (index > 0) {
            json += ',';
        }
        append_column(json, row.table->columns[index], row.fields[index]);
    }
    json += ']';
    return json;
}

std::optional<kept_json_row> kept_json_row::parse(std::string_view schema, std::string_view table,
                                                  std::string_view json, std::uint64_t revision,
                                                  std::string_view& what) {
    kept_json_row made;
    made.table_ =
        std::make_unique<relation>(relation{std::string(schema), std::string(table), {}, revision});
    return made.take(json, what) ? std::optional(std::move(made)) : std::nullopt;
}

bool kept_json_row::take(std::string_view json, std::string_view& what) {
    simdjson::dom::parser parser;
    simdjson::dom::array columns;
    if (parser.parse(json.data(), json.size()).get(columns) != simdjson::SUCCESS) {
        what = "has an event that is no JSON array";
        return false;
    }
    values_ = std::make_unique<std::vector<std::string>>();
    // A view must not move with a growing vector.
    values_->reserve(columns.size());
    for (const json_element each : columns) {
        auto read = read_column(each);
        if (!read) {
            what = "holds a column without a name, type and value";
            return false;
        }
        table_->columns.push_back(std::move(read->about));
        if (read->value) {
            values_->push_back(std::move(*read->value));
            fields_.emplace_back(values_->back());
        } else {
            fields_.emplace_back(std::nullopt);
        }
    }
    return true;
}

}  // namespace walrelay::relay
