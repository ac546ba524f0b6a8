#include "outbox/text_template.hpp"

#include <algorithm>

namespace walrelay::outbox {
namespace {

error broken(std::string_view setting, std::string_view text, std::string_view what,
             std::size_t offset) {
    return {errc::configuration_invalid,
            std::string(setting) + " \"" + std::string(text) + "\" has " + std::string(what) +
                " at offset " + std::to_string(offset),
            "write {name} for the value of a column, {name|other} for the first that is not NULL; "
            "braces have no other use in a template"};
}

std::vector<std::string> alternatives(std::string_view names) {
    std::vector<std::string> found;
    for (auto bar = names.find('|'); bar != std::string_view::npos; bar = names.find('|')) {
        found.emplace_back(names.substr(0, bar));
        names.remove_prefix(bar + 1);
    }
    found.emplace_back(names);
    return found;
}

bool has_empty(const std::vector<std::string>& names) {
    return std::any_of(names.begin(), names.end(),
                       [](const std::string& name) { return name.empty(); });
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
            next.names = alternatives(text.substr(opening + 1, closing - opening - 1));
            if (has_empty(next.names)) {
                return broken(setting, text, "no name between the braces", opening);
            }
            start = closing + 1;
        }
        parsed.parts_.push_back(std::move(next));
    }
    return parsed;
}

bool text_template::has_names() const {
    return std::any_of(parts_.begin(), parts_.end(),
                       [](const part& each) { return !each.names.empty(); });
}

bool text_template::ends_with_name() const {
    return !parts_.empty() && !parts_.back().names.empty();
}

}  // namespace walrelay::outbox
