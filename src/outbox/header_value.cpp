#include "outbox/header_value.hpp"

#include "core/occasion.hpp"
#include "core/percent.hpp"

#include <algorithm>

namespace walrelay::outbox {
namespace {

constexpr std::string_view reserved = "nats-";

/// Whether the '-' at `index` ends a "Nats-" in any case.
bool ends_reserved_name(std::string_view value, std::size_t index) {
    if (index + 1 < reserved.size()) {
        return false;
    }
    constexpr char lower_case_bit = 0x20;
    const auto name = value.substr(index + 1 - reserved.size(), reserved.size() - 1);
    return std::equal(name.begin(), name.end(), reserved.begin(), [](char have, char want) {
        return static_cast<char>(have | lower_case_bit) == want;
    });
}

bool is_at_end(std::string_view value, std::size_t index) {
    return index == 0 || index + 1 == value.size();
}

/// Whether the byte at `index` must not stand in a header as it is.
bool is_offending(std::string_view value, std::size_t index) {
    const char byte = value[index];
    return is_control(byte) || (byte == ' ' && is_at_end(value, index)) ||
           (byte == '-' && ends_reserved_name(value, index));
}

bool is_ordinary(std::string_view value) {
    for (std::size_t index = 0; index < value.size(); ++index) {
        if (is_offending(value, index)) {
            return false;
        }
    }
    return true;
}

void append_encoded(std::string& text, std::string_view value, std::size_t mark) {
    for (std::size_t index = 0; index < value.size(); ++index) {
        if (value[index] == '%' || index == mark || is_offending(value, index)) {
            append_percent_encoded(text, value[index]);
        } else {
            text += value[index];
        }
    }
}

constexpr bool is_plain_in_cloudevents(char byte) {
    return byte > ' ' && byte <= '~' && byte != '"' && byte != '%';
}

}  // namespace

void append_header_value(std::string& text, std::string_view value) {
    if (is_ordinary(value)) {
        text.append(value);
    } else {
        append_encoded(text, value, std::string_view::npos);
    }
}

void append_message_id(std::string& text, std::string_view value) {
    const auto row = without_last_occasion(value);
    if (row) {
        append_encoded(text, value, row->size());
    } else {
        append_header_value(text, value);
    }
}

void append_cloudevents_value(std::string& text, std::string_view value) {
    for (std::size_t index = 0; index < value.size(); ++index) {
        if (is_plain_in_cloudevents(value[index]) && !is_offending(value, index)) {
            text += value[index];
        } else {
            append_percent_encoded(text, value[index]);
        }
    }
}

}  // namespace walrelay::outbox
