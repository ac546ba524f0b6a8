// A list of things as one text.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace walrelay {

/// `text_of` makes the text of each.
template <class Things, class Text = std::identity>
[[nodiscard]] std::string joined(const Things& things, std::string_view between = ", ",
                                 Text text_of = {}) {
    std::string text;
    bool first = true;
    for (const auto& each : things) {
        text += first ? std::string_view() : between;
        text += text_of(each);
        first = false;
    }
    return text;
}

/// `; ` between them, once: a statement ends with a semicolon of its own.
[[nodiscard]] inline std::string followed_by(std::string first, std::string_view next) {
    if (!first.empty()) {
        first += first.ends_with(';') ? " " : "; ";
    }
    return first.append(next);
}

/// For a line that goes on with `; `: without the semicolon of a statement at its end.
[[nodiscard]] inline std::string clause_of(std::string text) {
    if (text.ends_with(';')) {
        text.pop_back();
    }
    return text;
}

}  // namespace walrelay
