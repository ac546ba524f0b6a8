#include "relay/intake/json_check.hpp"

#include "wal/json_text.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace walrelay::relay {
namespace {

using simdjson::ondemand::json_type;

constexpr int deepest = 512;

/// Takes digits off the front; whether there was one.
bool take_digits(std::string_view& text) {
    const auto end = std::min(text.find_first_not_of("0123456789"), text.size());
    text.remove_prefix(end);
    return end > 0;
}

bool take_one_of(std::string_view& text, std::string_view characters) {
    if (text.empty() || characters.find(text.front()) == std::string_view::npos) {
        return false;
    }
    text.remove_prefix(1);
    return true;
}

/// RFC 8259, section 6.
bool is_number(std::string_view text) {
    take_one_of(text, "-");
    if (!take_one_of(text, "0") && !take_digits(text)) {
        return false;
    }
    if (take_one_of(text, ".") && !take_digits(text)) {
        return false;
    }
    if (take_one_of(text, "eE")) {
        take_one_of(text, "+-");
        if (!take_digits(text)) {
            return false;
        }
    }
    return text.empty();
}

bool is_whole(simdjson::ondemand::value& value, int depth);

bool is_whole_array(simdjson::ondemand::array array, int depth) {
    for (auto item : array) {
        simdjson::ondemand::value each;
        if (std::move(item).get(each) || !is_whole(each, depth)) {
            return false;
        }
    }
    return true;
}

bool is_whole_object(simdjson::ondemand::object object, int depth) {
    for (auto item : object) {
        simdjson::ondemand::field each;
        std::string_view name;
        if (std::move(item).get(each) || each.unescaped_key().get(name) ||
            !is_whole(each.value(), depth)) {
            return false;
        }
    }
    return true;
}

bool is_whole_scalar(simdjson::ondemand::value& value, json_type type) {
    const auto token = wal::raw_token(value);
    std::string_view text;
    switch (type) {
        case json_type::string:
            return value.get_string().get(text) == simdjson::SUCCESS;
        case json_type::number:
            return is_number(token);
        case json_type::boolean:
            return token == "true" || token == "false";
        default:
            return token == "null";
    }
}

bool is_whole(simdjson::ondemand::value& value, int depth) {
    json_type type{};
    if (depth >= deepest || value.type().get(type)) {
        return false;
    }
    simdjson::ondemand::array array;
    simdjson::ondemand::object object;
    switch (type) {
        case json_type::array:
            return !value.get_array().get(array) && is_whole_array(array, depth + 1);
        case json_type::object:
            return !value.get_object().get(object) && is_whole_object(object, depth + 1);
        default:
            return is_whole_scalar(value, type);
    }
}

/// Of an object or array, from its first to its last character.
template <class Nested>
std::optional<std::string_view> take_nested(simdjson::simdjson_result<Nested> found) {
    Nested nested;
    std::string_view text;
    if (std::move(found).get(nested) || nested.raw_json().get(text) || nested.reset().error()) {
        return std::nullopt;
    }
    const bool whole = [&] {
        if constexpr (std::is_same_v<Nested, simdjson::ondemand::array>) {
            return is_whole_array(nested, 1);
        } else {
            return is_whole_object(nested, 1);
        }
    }();
    return whole ? std::optional(text.substr(0, text.find_last_of("]}") + 1)) : std::nullopt;
}

}  // namespace

std::optional<json_span> take_json(simdjson::ondemand::value& value) {
    json_span found;
    if (value.type().get(found.type)) {
        return std::nullopt;
    }
    std::optional<std::string_view> nested;
    switch (found.type) {
        case json_type::array:
            nested = take_nested(value.get_array());
            break;
        case json_type::object:
            nested = take_nested(value.get_object());
            break;
        case json_type::string:
            return value.get_string().get(found.text) ? std::nullopt : std::optional(found);
        default:
            found.text = wal::raw_token(value);
            return is_whole_scalar(value, found.type) ? std::optional(found) : std::nullopt;
    }
    if (!nested) {
        return std::nullopt;
    }
    found.text = *nested;
    return found;
}

}  // namespace walrelay::relay
