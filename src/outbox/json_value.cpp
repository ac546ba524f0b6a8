#include "outbox/json_value.hpp"

#include "core/ascii.hpp"
#include "outbox/bytea.hpp"
#include "outbox/complaints.hpp"
#include "outbox/timestamp.hpp"

#include <array>

namespace walrelay::outbox {
namespace {

constexpr auto needs_escape = [] {
    std::array<bool, 256> table{};
    for (std::size_t byte = 0; byte < ' '; ++byte) {
        table[byte] = true;
    }
    table['"'] = true;
    table['\\'] = true;
    return table;
}();

void append_escaped(std::string& json, char byte) {
    constexpr std::string_view plain = "\"\\\b\f\n\r\t";
    constexpr std::string_view letters = "\"\\bfnrt";
    json += '\\';
    if (const auto place = plain.find(byte); place != std::string_view::npos) {
        json += letters[place];
        return;
    }
    constexpr const char* digits = "0123456789abcdef";
    json += "u00";
    json += digits[static_cast<unsigned char>(byte) >> 4U];
    json += digits[static_cast<unsigned char>(byte) & 15U];
}

/// NaN and the infinities are no numbers in JSON; PostgreSQL's other numbers are (RFC 8259).
void append_number(std::string& json, std::string_view text) {
    const auto first = text.substr(text.starts_with('-') ? 1 : 0);
    if (!first.empty() && is_digit(first.front())) {
        json += text;
    } else {
        append_json_string(json, text);
    }
}

std::string_view append_boolean(std::string& json, std::string_view text) {
    if (text != "t" && text != "f") {
        return complaint::not_boolean;
    }
    json += text == "t" ? "true" : "false";
    return {};
}

std::string_view append_bytea(std::string& json, std::string_view text) {
    json += '"';
    if (!append_base64(json, text)) {
        return complaint::not_hexadecimal;
    }
    json += '"';
    return {};
}

std::string_view append_timestamp(std::string& json, std::string_view text) {
    json += '"';
    if (!append_rfc3339(json, text)) {
        return complaint::not_rfc3339;
    }
    json += '"';
    return {};
}

}  // namespace

void append_json_string(std::string& json, std::string_view text) {
    json += '"';
    std::size_t start = 0;
    for (std::size_t index = 0; index < text.size(); ++index) {
        if (needs_escape[static_cast<unsigned char>(text[index])]) {
            json.append(text, start, index - start);
            append_escaped(json, text[index]);
            start = index + 1;
        }
    }
    json.append(text, start, text.size() - start);
    json += '"';
}

std::string_view append_json_value(std::string& json, std::string_view text, type_kind kind) {
    switch (kind) {
        case type_kind::json:
            json += text;
            return {};
        case type_kind::bytea:
            return append_bytea(json, text);
        case type_kind::boolean:
            return append_boolean(json, text);
        case type_kind::number:
            append_number(json, text);
            return {};
        case type_kind::timestamp:
            return append_timestamp(json, text);
        case type_kind::text:
            break;
    }
    append_json_string(json, text);
    return {};
}

}  // namespace walrelay::outbox
