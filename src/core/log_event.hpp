// What kind of line of the log there is: a stable name, how serious it is, which fields it has, and
// what it means to whoever reads it. The lists of all of them are log_events_*.hpp beside this
// file; docs/log.md is checked against them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace walrelay {

enum class log_severity { debug, info, warning, error };

[[nodiscard]] constexpr std::string_view to_string(log_severity severity) {
    switch (severity) {
        case log_severity::debug:
            return "debug";
        case log_severity::info:
            return "info";
        case log_severity::warning:
            return "warning";
        case log_severity::error:
            break;
    }
    return "error";
}

struct log_event {
    std::string_view name;
    log_severity severity = log_severity::info;
    /// Their names in the order in which they are written, with a blank between two.
    std::string_view fields;
    std::string_view meaning;
    /// Empty where nothing is to be done.
    std::string_view what_to_do;
};

/// Text as an argument of a template.
template <std::size_t Size>
struct name_literal {
    // NOLINTNEXTLINE(google-explicit-constructor): written as a plain string
    consteval name_literal(const char (&from)[Size]) { std::copy_n(from, Size, text.begin()); }

    [[nodiscard]] constexpr std::string_view view() const { return {text.data(), Size - 1}; }

    std::array<char, Size> text{};
};

}  // namespace walrelay
