#include "http/json_writer.hpp"

#include "core/json_string.hpp"
#include "core/one_line.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace walrelay::http {

void json_writer::begin(std::string_view name) {
    if (!text_.empty() && text_.back() != '{' && text_.back() != '[') {
        text_ += ',';
    }
    if (!name.empty()) {
        text_.append("\"").append(name).append("\":");
    }
}

json_writer& json_writer::open_object(std::string_view name) {
    begin(name);
    text_ += '{';
    return *this;
}

json_writer& json_writer::close_object() {
    text_ += '}';
    return *this;
}

json_writer& json_writer::open_array(std::string_view name) {
    begin(name);
    text_ += '[';
    return *this;
}

json_writer& json_writer::close_array() {
    text_ += ']';
    return *this;
}

json_writer& json_writer::text(std::string_view name, std::string_view value) {
    begin(name);
    text_ += json_string(one_line(value));
    return *this;
}

json_writer& json_writer::flag(std::string_view name, bool value) {
    begin(name);
    text_ += value ? "true" : "false";
    return *this;
}

json_writer& json_writer::number(std::string_view name, std::optional<double> value) {
    if (!value || !std::isfinite(*value)) {
        return null(name);
    }
    begin(name);
    constexpr std::size_t longest = 32;
    std::array<char, longest> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), *value);
    text_.append(text.data(), end.ptr);
    return *this;
}

json_writer& json_writer::null(std::string_view name) {
    begin(name);
    text_ += "null";
    return *this;
}

}  // namespace walrelay::http
