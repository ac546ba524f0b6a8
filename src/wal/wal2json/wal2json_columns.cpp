#include "wal/wal2json/wal2json_columns.hpp"

#include <charconv>
#include <cstdint>
#include <limits>

namespace walrelay::wal {
namespace {

struct column_members {
    std::optional<std::string_view> name;
    std::optional<type_oid> type;
    std::optional<field> value;
};

/// Printed with %d, so that the upper half of all oids is negative.
std::optional<type_oid> parse_oid(std::string_view digits) {
    std::int64_t number = 0;
    const char* const end = digits.data() + digits.size();
    const auto [stop, failure] = std::from_chars(digits.data(), end, number);
    if (failure != std::errc{} || stop != end || number == 0 ||
        number < std::numeric_limits<std::int32_t>::min() ||
        number > std::numeric_limits<std::uint32_t>::max()) {
        return std::nullopt;
    }
    return static_cast<type_oid>(number);
}

/// The text of a value that is no string. Numbers stay as they are written: a numeric may have
/// more digits than any number here can hold.
std::optional<field> parse_unquoted(std::string_view token) {
    if (token == "null") {
        return field{};
    }
    if (token == "true") {
        return field{"t"};
    }
    if (token == "false") {
        return field{"f"};
    }
    const bool is_number = !token.empty() &&
                           token.find_first_not_of("0123456789+-.eE") == std::string_view::npos &&
                           token.find_first_of("0123456789") != std::string_view::npos;
    return is_number ? std::optional<field>{token} : std::nullopt;
}

result<void> read_string(simdjson::ondemand::value& value, const json_text& json,
                         std::string_view member, std::optional<std::string_view>& text) {
    const char* const begins = value.raw_json_token().data();
    std::string_view unescaped;
    if (const auto code = value.get_string().get(unescaped)) {
        return json.failure(code, member, json.offset_of(begins));
    }
    text = unescaped;
    return {};
}

result<void> read_value(simdjson::ondemand::value& value, const json_text& json,
                        column_members& column) {
    if (value.raw_json_token().starts_with('"')) {
        std::optional<std::string_view> text;
        if (const auto read = read_string(value, json, "value", text); !read) {
            return read;
        }
        column.value.emplace(text);
        return {};
    }
    const auto token = raw_token(value);
    column.value = parse_unquoted(token);
    if (!column.value) {
        return json.malformed("is none of string, number, true, false, null", "value",
                              json.offset_of(token.data()));
    }
    return {};
}

result<void> read_type(simdjson::ondemand::value& value, const json_text& json,
                       column_members& column) {
    const auto token = raw_token(value);
    column.type = parse_oid(token);
    if (!column.type) {
        return json.malformed("is no oid", "typeoid", json.offset_of(token.data()));
    }
    return {};
}

result<void> read_member(simdjson::ondemand::field& member, const json_text& json,
                         column_members& column) {
    auto& value = member.value();
    const char* const begins = member.key().raw();
    std::string_view key;
    if (const auto code = member.unescaped_key().get(key)) {
        return json.failure(code, "columns", json.offset_of(begins));
    }
    const bool again = (key == "name" && column.name) || (key == "typeoid" && column.type) ||
                       (key == "value" && column.value);
    if (again) {
        return json.malformed("stands twice in one column", key, json.offset_of(begins));
    }
    if (key == "name") {
        return read_string(value, json, key, column.name);
    }
    if (key == "typeoid") {
        return read_type(value, json, column);
    }
    if (key == "value") {
        return read_value(value, json, column);
    }
    return {};
}

result<void> add(const column_members& column, const json_text& json, std::size_t offset,
                 wal2json_row row) {
    if (!column.name) {
        return json.malformed("is missing in the column that ends here", "name", offset);
    }
    if (!column.type) {
        return json.malformed(
            "is missing in the column that ends here: the server's wal2json is "
            "older than 2.5, the first version that sends it",
            "typeoid", offset,
            "install wal2json 2.5 or newer on the server and start again; the "
            "slot keeps what was not relayed (or, with every relay stopped, set "
            "postgres.plugin = \"pgoutput\", then: walrelay init "
            "--switch-plugin)");
    }
    if (!column.value) {
        return json.malformed("is missing in the column that ends here", "value", offset);
    }
    row.columns.push_back({*column.name, *column.type});
    row.fields.push_back(*column.value);
    return {};
}

result<void> read_column(simdjson::ondemand::value& element, const json_text& json,
                         wal2json_row row) {
    simdjson::ondemand::object members;
    if (const auto code = element.get_object().get(members)) {
        return json.failure(code, "columns", json.offset_at(element));
    }
    column_members column;
    for (auto item : members) {
        simdjson::ondemand::field member;
        if (const auto code = std::move(item).get(member)) {
            return json.failure(code, "columns", json.offset_at(element));
        }
        if (const auto read = read_member(member, json, column); !read) {
            return read;
        }
    }
    return add(column, json, json.offset_at(element), row);
}

}  // namespace

result<void> read_columns(simdjson::ondemand::value& columns, const json_text& json,
                          wal2json_row row) {
    simdjson::ondemand::array elements;
    if (const auto code = columns.get_array().get(elements)) {
        return json.failure(code, "columns", json.offset_at(columns));
    }
    for (auto item : elements) {
        simdjson::ondemand::value element;
        if (const auto code = std::move(item).get(element)) {
            return json.failure(code, "columns", json.offset_at(columns));
        }
        if (const auto read = read_column(element, json, row); !read) {
            return read;
        }
    }
    return {};
}

}  // namespace walrelay::wal
