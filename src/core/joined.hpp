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

}  // namespace walrelay
