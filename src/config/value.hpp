// A value as it was written, before anybody knows what it is for: the common form of what a TOML
// file, a variable and a flag say. Knows neither toml++ nor the keys.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace walrelay::config {

struct value;
struct member;

/// Text of a variable or a flag: what it means depends on the key.
struct plain_text {
    std::string text;
};

/// A TOML value that no key takes: a float or a kind of date.
struct foreign {
    std::string_view type;
};

using value_list = std::vector<value>;
/// In the order of the source.
using value_table = std::vector<member>;

struct value {
    std::string where;  // as in `problem`
    std::variant<plain_text, std::string, bool, std::int64_t, foreign, value_list, value_table>
        data;
};

struct member {
    std::string name;
    value held;
};

/// "a string", "an integer", ...: for messages.
[[nodiscard]] std::string_view type_name(const value& of);

/// The text of a TOML string, a variable or a flag; nullptr for anything else.
[[nodiscard]] const std::string* text_of(const value& of);

}  // namespace walrelay::config
