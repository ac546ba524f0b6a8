#include "outbox/text_template.hpp"

#include <algorithm>
#include <optional>

namespace walrelay::outbox {
namespace {

error broken(std::string_view setting, std::string_view text, std::string_view what,
             std::size_t offset) {
    return {errc::configuration_invalid,
            std::string(setting) + " \"" + std::string(text) + "\" has " + std::string(what) +
                " at offset " + std::to_string(offset),
            "write {name} for the value of a column, {name|other} for the first that is not NULL, "
            "{name|'text'} for a text where it is NULL; braces have no other use in a template"};
}

/// `'text'` or nothing. There is no way to write a quote in it.
std::optional<std::string_view> quoted(std::string_view text) {
    constexpr std::size_t quotes = 2;
    const bool is_quoted = text.size() > quotes && text.front() == '\'' && text.back() == '\'' &&
                           text.find('\'', 1) == text.size() - 1;
    return is_quoted ? std::optional(text.substr(1, text.size() - quotes)) : std::nullopt;
}

/// A column, and the member of it that `column->>'member'` means.
struct named {
    std::string_view column;
    std::string_view key;
};

named read_name(std::string_view text) {
    constexpr std::string_view arrow = "->>";
    const auto at = text.rfind(arrow);
    if (at == std::string_view::npos) {
        return {text, {}};
    }
    const auto key = quoted(text.substr(at + arrow.size()));
    return key ? named{text.substr(0, at), *key} : named{text, {}};
}

/// Puts what stands between a pair of braces into `into`; says what is wrong with it, if anything.
std::string_view read_names(std::string_view names, text_template::part& into) {
    bool is_last = false;
    while (!is_last) {
        const auto bar = names.find('|');
        const auto each = names.substr(0, bar);
        is_last = bar == std::string_view::npos;
        names.remove_prefix(is_last ? names.size() : bar + 1);
        if (each.starts_with('\'')) {
            const auto text = quoted(each);
            if (!text || !is_last || into.names.empty()) {
                return "text in quotes that is not the last of several";
            }
            into.otherwise = *text;
            return {};
        }
        const auto name = read_name(each);
        if (name.column.empty()) {
            return "no name between the braces";
        }
        into.names.emplace_back(name.column);
        into.keys.emplace_back(name.key);
    }
    return {};
}

bool is_empty(const std::string& text) {
    return text.empty();
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
            const auto between = text.substr(opening + 1, closing - opening - 1);
            if (const auto wrong = read_names(between, next); !wrong.empty()) {
                return broken(setting, text, wrong, opening);
            }
            if (std::all_of(next.keys.begin(), next.keys.end(), is_empty)) {
                next.keys.clear();
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

bool text_template::has_keys() const {
    return std::any_of(parts_.begin(), parts_.end(),
                       [](const part& each) { return !each.keys.empty(); });
}

bool text_template::has_otherwise() const {
    return std::any_of(parts_.begin(), parts_.end(),
                       [](const part& each) { return each.otherwise.has_value(); });
}

}  // namespace walrelay::outbox
