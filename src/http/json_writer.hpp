// JSON, written from the outside to the inside: objects, arrays, and values with their names.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace walrelay::http {

/// Names are plain ASCII; the text of values can be anything and is made UTF-8.
class json_writer {
public:
    /// `name` is empty for what is in an array, and for the whole.
    json_writer& open_object(std::string_view name = {});
    json_writer& close_object();
    json_writer& open_array(std::string_view name = {});
    json_writer& close_array();

    json_writer& text(std::string_view name, std::string_view value);
    json_writer& flag(std::string_view name, bool value);
    /// null where there is none, or where it is no finite number.
    json_writer& number(std::string_view name, std::optional<double> value);
    template <std::integral Integer>
    json_writer& number(std::string_view name, Integer value) {
        begin(name);
        text_ += std::to_string(value);
        return *this;
    }
    json_writer& null(std::string_view name);

    [[nodiscard]] std::string take() { return std::move(text_); }

private:
    void begin(std::string_view name);

    std::string text_;
};

}  // namespace walrelay::http
