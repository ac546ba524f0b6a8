#include "relay/retry_request.hpp"

#include <simdjson.h>

#include <limits>
#include <utility>

namespace walrelay::relay {
namespace {

using simdjson::dom::element;

error malformed(std::string_view what) {
    return {errc::row_unmappable,
            "a logical message with prefix " + std::string(retry_prefix) + " " + std::string(what),
            "write such messages only with `walrelay dead-letter retry`"};
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

result<retry_request> retry_request::parse(std::string_view content, std::uint64_t revision) {
    simdjson::dom::parser parser;
    element root;
    if (parser.parse(content.data(), content.size()).get(root) != simdjson::SUCCESS) {
        return malformed("is not JSON");
    }
    element table;
    simdjson::dom::array columns;
    auto occasion = text_at(root, "occasion");
    if (root["table"].get(table) != simdjson::SUCCESS || !occasion ||
        root["columns"].get(columns) != simdjson::SUCCESS) {
        return malformed("lacks its table, occasion or columns");
    }
    auto schema = text_at(table, "schema");
    auto name = text_at(table, "name");
    if (!schema || !name) {
        return malformed("does not name its table");
    }
    retry_request made;
    made.occasion_ = std::move(*occasion);
    made.table_ =
        std::make_unique<relation>(relation{std::move(*schema), std::move(*name), {}, revision});
    made.values_ = std::make_unique<std::vector<std::string>>();
    // A view must not move with a growing vector.
    made.values_->reserve(columns.size());
    for (const element each : columns) {
        auto read = read_column(each);
        if (!read) {
            return malformed("holds a column without a name, type and value");
        }
        made.table_->columns.push_back(std::move(read->about));
        if (read->value) {
            made.values_->push_back(std::move(*read->value));
            made.fields_.emplace_back(made.values_->back());
        } else {
            made.fields_.emplace_back(std::nullopt);
        }
    }
    return made;
}

}  // namespace walrelay::relay
