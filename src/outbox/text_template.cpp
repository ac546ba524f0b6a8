#include "outbox/text_template.hpp"

#include <algorithm>

namespace walrelay::outbox {
namespace {

error broken(std::string_view setting, std::string_view text, std::string_view what,
             std::size_t offset) {
    return {errc::configuration_invalid,
            std::string(setting) + " \"" + std::string(text) + "\" has " + std::string(what) +
                " at offset " + std::to_string(offset),
            "write {name} for the value of a column; braces have no other use in a template"};
}

}  // namespace

result<text_template> text_template::parse(std::string_view setting, std::string_view text) {
    text_template parsed;
    parsed.text_ = text;
    std::size_t start = 0;
    while (start < text.size()) {
        const auto opening = std::min(text.find_first_of("{}", start), text.size());
        part next{std::string(text.substr(start, opening - start)), {}};
        start = opening;
        if (opening < text.size()) {
            if (text[opening] == '}') {
                return broken(setting, text, "a stray \"}\"", opening);
            }
            const auto closing = text.find_first_of("{}", opening + 1);
            if (closing == std::string_view::npos || text[closing] == '{') {
                return broken(setting, text, "a stray \"{\"", opening);
            }
            if (closing == opening + 1) {
                return broken(setting, text, "no name between the braces", opening);
            }
            next.name = text.substr(opening + 1, closing - opening - 1);
            start = closing + 1;
        }
        parsed.parts_.push_back(std::move(next));
    }
    return parsed;
}

bool text_template::has_names() const {
    return std::any_of(parts_.begin(), parts_.end(),
                       [](const part& each) { return !each.name.empty(); });
}

}  // namespace walrelay::outbox
