#include "log/log_text.hpp"

#include "core/ascii.hpp"
#include "core/json_string.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <variant>

namespace walrelay {
namespace {

/// Of a name, a position, an address.
bool is_plain(char each) {
    constexpr std::string_view others = "_-.:/,;+@*>";
    return is_letter(each) || is_digit(each) || others.find(each) != std::string_view::npos;
}

/// In quotes, with what could be taken for the end of the list.
std::string quoted_value(std::string_view value) {
    std::string quoted;
    for (const char each : json_string(value)) {
        if (each == '[' || each == ']') {
            quoted += each == '[' ? "\\u005b" : "\\u005d";
        } else {
            quoted += each;
        }
    }
    return quoted;
}

std::string number_text(double number) {
    return std::isfinite(number) ? fmt::format("{:.3f}", number) : "null";
}

std::string plain_value(const log_value& value) {
    if (const auto* const text = std::get_if<std::string>(&value)) {
        return !text->empty() && std::ranges::all_of(*text, is_plain) ? *text : quoted_value(*text);
    }
    if (const auto* const number = std::get_if<double>(&value)) {
        return number_text(*number);
    }
    return std::to_string(std::get<std::uint64_t>(value));
}

std::string json_value(const log_value& value) {
    const auto* const text = std::get_if<std::string>(&value);
    return text != nullptr ? json_string(*text) : plain_value(value);
}

/// RFC 3339, UTC.
std::string time_text(wall_time at) {
    constexpr int milliseconds_per_second = 1000;
    const auto seconds = std::chrono::floor<std::chrono::seconds>(at);
    const auto rest = std::chrono::floor<std::chrono::milliseconds>(at - seconds).count();
    return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                       fmt::gmtime(std::chrono::system_clock::to_time_t(seconds)),
                       rest % milliseconds_per_second);
}

bool is_known(const log_value& value) {
    return !std::holds_alternative<std::monostate>(value);
}

}  // namespace

std::string text_line(const log_entry& line, wall_time at) {
    auto text = fmt::format("{} {:<7} {} [{}", time_text(at), to_string(line.severity()),
                            line.text(), line.event().name);
    for (const auto& each : line.fields()) {
        if (is_known(each.value)) {
            text.append(" ").append(each.name).append("=").append(plain_value(each.value));
        }
    }
    return text + "]\n";
}

std::string json_line(const log_entry& line, wall_time at) {
    auto text =
        fmt::format(R"({{"time":"{}","level":"{}","event":"{}","message":{})", time_text(at),
                    to_string(line.severity()), line.event().name, json_string(line.text()));
    for (const auto& each : line.fields()) {
        if (is_known(each.value)) {
            text.append(",").append(json_string(each.name)).append(":");
            text.append(json_value(each.value));
        }
    }
    return text + "}\n";
}

std::string priority_prefix(log_severity severity) {
    switch (severity) {
        case log_severity::debug:
            return "<7>";
        case log_severity::info:
            return "<6>";
        case log_severity::warning:
            return "<4>";
        case log_severity::error:
            break;
    }
    return "<3>";
}

}  // namespace walrelay
