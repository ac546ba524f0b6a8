// A small scanner of SQL: what stands inside of quotes, and what outside.
#include "config/sql_fragment.hpp"

#include "config/quote.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace walrelay::config {
namespace {

constexpr std::array<std::string_view, 2> dead_letter_names{"{error}", "{attempts}"};

bool is_word_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || static_cast<unsigned char>(c) >= 0x80U;
}

/// The text in two: what is outside of quotes, each quoted piece replaced by a pair of quotes, and
/// the quoted pieces.
struct parts {
    std::string outside;
    std::vector<std::string_view> quoted;
    bool open = false;
};

/// Whether a quote that begins behind `outside` takes backslashes: E'...'.
bool takes_backslashes(std::string_view outside) {
    if (outside.empty() || (outside.back() != 'e' && outside.back() != 'E')) {
        return false;
    }
    return outside.size() == 1 || !is_word_character(outside[outside.size() - 2]);
}

/// The index behind the closing quote; npos if there is none. `from` is behind the opening one. A
/// doubled quote is read as the end of one piece and the begin of the next.
std::size_t end_of_quoted(std::string_view text, std::size_t from, char quote, bool backslashes) {
    for (std::size_t at = from; at < text.size(); ++at) {
        if (backslashes && text[at] == '\\') {
            ++at;
        } else if (text[at] == quote) {
            return at + 1;
        }
    }
    return std::string_view::npos;
}

parts split_at_quotes(std::string_view text) {
    parts found;
    bool backslashes = false;
    for (std::size_t at = 0; at < text.size();) {
        const char c = text[at];
        if (c != '\'' && c != '"') {
            found.outside += c;
            ++at;
            continue;
        }
        const bool continued = at > 0 && found.outside.ends_with(c) && text[at - 1] == c;
        backslashes = continued ? backslashes : c == '\'' && takes_backslashes(found.outside);
        const std::size_t end = end_of_quoted(text, at + 1, c, backslashes);
        if (end == std::string_view::npos) {
            found.open = true;
            return found;
        }
        found.quoted.push_back(text.substr(at, end - at));
        found.outside.append(2, c);
        at = end;
    }
    return found;
}

bool parentheses_match(std::string_view outside) {
    int depth = 0;
    for (const char c : outside) {
        depth += c == '(' ? 1 : c == ')' ? -1 : 0;
        if (depth < 0) {
            return false;
        }
    }
    return depth == 0;
}

/// A `$` that is not part of a name: a parameter or a dollar quote.
bool has_dollar(std::string_view outside) {
    for (std::size_t at = 0; at < outside.size(); ++at) {
        if (outside[at] == '$' && (at == 0 || !is_word_character(outside[at - 1]))) {
            return true;
        }
    }
    return false;
}

bool begins_with_word(std::string_view text, std::string_view word) {
    const std::size_t begin = text.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos || text.size() - begin <= word.size()) {
        return false;
    }
    const auto same = [](char expected, char found) {
        return (found >= 'A' && found <= 'Z' ? static_cast<char>(found - 'A' + 'a') : found) ==
               expected;
    };
    const std::string_view rest = text.substr(begin);
    return std::equal(word.begin(), word.end(), rest.begin(), same) &&
           !is_word_character(rest[word.size()]);
}

std::optional<complaint> check_fragment(const parts& found, std::string_view first_word) {
    const std::string_view outside = found.outside;
    const auto has = [&](std::string_view what) {
        return outside.find(what) != std::string_view::npos;
    };
    if (found.open) {
        return complaint{"a quote is left open", "close it"};
    }
    if (has(";")) {
        return complaint{"holds a semicolon outside of quotes", "write one part of one statement"};
    }
    if (has("--") || has("/*")) {
        return complaint{"holds a comment", "remove it; TOML has comments of its own, after #"};
    }
    if (has_dollar(outside)) {
        return complaint{"holds a $ outside of quotes", "write texts in single quotes"};
    }
    if (!parentheses_match(outside)) {
        return complaint{"its parentheses do not match", "close each one that is opened"};
    }
    if (begins_with_word(outside, first_word)) {
        return complaint{"begins with the word " + std::string(first_word), "leave out that word"};
    }
    if (outside.find_first_not_of(" \t\r\n") == std::string_view::npos) {
        return complaint{"is blank", "remove it"};
    }
    return std::nullopt;
}

/// The outside without the placeholders that are allowed.
std::string without_placeholders(std::string outside) {
    for (const std::string_view name : dead_letter_names) {
        for (std::size_t at = 0; (at = outside.find(name, at)) != std::string::npos;) {
            outside.erase(at, name.size());
        }
    }
    return outside;
}

std::optional<complaint> check_assignments(const parts& found, std::string_view outside,
                                           std::string_view mend_braces) {
    if (auto wrong = check_fragment(found, "set")) {
        return wrong;
    }
    if (outside.find_first_of("{}") != std::string_view::npos) {
        return complaint{"holds a brace outside of quotes", std::string(mend_braces)};
    }
    if (outside.find('=') == std::string_view::npos) {
        return complaint{"sets nothing", "write it like status = 'published'"};
    }
    return std::nullopt;
}

}  // namespace

std::optional<complaint> check_predicate(const std::string& text) {
    return text.empty() ? std::nullopt : check_fragment(split_at_quotes(text), "where");
}

std::optional<complaint> check_set_list(const std::string& text) {
    if (text.empty()) {
        return std::nullopt;
    }
    const parts found = split_at_quotes(text);
    return check_assignments(found, found.outside, "remove it; there are no placeholders here");
}

std::optional<complaint> check_dead_letter_set_list(const std::string& text) {
    if (text.empty()) {
        return std::nullopt;
    }
    const parts found = split_at_quotes(text);
    for (const std::string_view piece : found.quoted) {
        for (const std::string_view name : dead_letter_names) {
            if (piece.find(name) != std::string_view::npos) {
                return complaint{std::string(name) + " stands inside of quotes",
                                 "remove the quotes; it becomes a quoted text or a number"};
            }
        }
    }
    return check_assignments(found, without_placeholders(found.outside),
                             "the placeholders are {error} and {attempts}");
}

}  // namespace walrelay::config
