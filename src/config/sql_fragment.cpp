// A small scanner of SQL: what stands inside of quotes, and what outside.
#include "config/sql_fragment.hpp"

#include "core/ascii.hpp"

#include <algorithm>
#include <string_view>

namespace walrelay::config {
namespace {

bool is_word_character(char c) {
    return is_letter(c) || is_digit(c) || c == '_' || c == '$' ||
           static_cast<unsigned char>(c) >= 0x80U;
}

/// Whether a quote at `at` takes backslashes: E'...'.
bool takes_backslashes(std::string_view text, std::size_t at) {
    return text[at] == '\'' && at > 0 && (text[at - 1] == 'e' || text[at - 1] == 'E') &&
           (at == 1 || !is_word_character(text[at - 2]));
}

/// The index of the quote that closes what opens at `at`; npos if there is none. A string goes on
/// where another quote follows at once, or on a later line, and takes backslashes as before.
std::size_t end_of_quoted(std::string_view text, std::size_t at) {
    const char quote = text[at];
    const bool backslashes = takes_backslashes(text, at);
    while (++at < text.size()) {
        if (backslashes && text[at] == '\\') {
            ++at;
        } else if (text[at] == quote) {
            const auto next = std::min(text.find_first_not_of(" \t\r\n\f\v", at + 1), text.size());
            const auto between = text.substr(at + 1, next - at - 1);
            const bool goes_on =
                next < text.size() && text[next] == quote &&
                (between.empty() ||
                 (quote == '\'' && between.find_first_of("\r\n") != std::string_view::npos));
            if (!goes_on) {
                return at;
            }
            at = next;
        }
    }
    return std::string_view::npos;
}

/// The text without what is quoted; nothing if a quote is left open.
std::optional<std::string> outside_of_quotes(std::string_view text) {
    std::string outside;
    for (std::size_t at = 0; at < text.size(); ++at) {
        outside += text[at];
        if (text[at] == '\'' || text[at] == '"') {
            at = end_of_quoted(text, at);
            if (at == std::string_view::npos) {
                return std::nullopt;
            }
        }
    }
    return outside;
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

std::optional<complaint> check_fragment(std::string_view text) {
    const auto outside = outside_of_quotes(text);
    if (!outside) {
        return complaint{"a quote is left open", "close it"};
    }
    if (outside->find(';') != std::string::npos) {
        return complaint{"holds a semicolon outside of quotes", "write one part of one statement"};
    }
    if (outside->find("--") != std::string::npos || outside->find("/*") != std::string::npos) {
        return complaint{"holds a comment", "remove it; TOML has comments of its own, after #"};
    }
    if (has_dollar(*outside)) {
        return complaint{"holds a $ outside of quotes", "write texts in single quotes"};
    }
    if (!parentheses_match(*outside)) {
        return complaint{"its parentheses do not match", "close each one that is opened"};
    }
    return std::nullopt;
}

std::size_t occurrences(std::string_view text, std::string_view of) {
    std::size_t found = 0;
    for (std::size_t at = 0; (at = text.find(of, at)) != std::string_view::npos; at += of.size()) {
        ++found;
    }
    return found;
}

}  // namespace

std::optional<complaint> check_predicate(const std::string& text) {
    return check_fragment(text);
}

std::optional<complaint> check_set_list(const std::string& text) {
    auto wrong = check_fragment(text);
    if (!wrong && outside_of_quotes(text)->find_first_of("{}") != std::string::npos) {
        wrong = complaint{"holds a brace outside of quotes",
                          "remove it; only on_dead_letter has placeholders"};
    }
    return wrong;
}

std::optional<complaint> check_dead_letter_set_list(const std::string& text) {
    if (auto wrong = check_fragment(text)) {
        return wrong;
    }
    const std::string outside = *outside_of_quotes(text);
    std::size_t known = 0;
    for (const std::string name : {"{error}", "{attempts}"}) {
        const std::size_t taken = occurrences(outside, name);
        if (occurrences(text, name) > taken) {
            return complaint{name + " stands inside of quotes",
                             "remove the quotes; it becomes a quoted text or a number"};
        }
        known += taken;
    }
    if (occurrences(outside, "{") != known || occurrences(outside, "}") != known) {
        return complaint{"holds a brace outside of quotes",
                         "the placeholders are {error} and {attempts}"};
    }
    return std::nullopt;
}

}  // namespace walrelay::config
