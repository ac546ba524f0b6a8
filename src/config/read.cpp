// What a value means where a key of a certain kind asks for it.
#include "config/read.hpp"

#include "config/quote.hpp"

#include <charconv>

namespace walrelay::config {
namespace {

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t";
    const std::size_t begin = text.find_first_not_of(blanks);
    if (begin == std::string_view::npos) {
        return {};
    }
    return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

value_list split_at_commas(std::string_view text, const std::string& where) {
    value_list elements;
    if (trimmed(text).empty()) {
        return elements;
    }
    while (true) {
        const std::size_t comma = text.find(',');
        elements.push_back({where, plain_text{std::string(trimmed(text.substr(0, comma)))}});
        if (comma == std::string_view::npos) {
            return elements;
        }
        text.remove_prefix(comma + 1);
    }
}

read_result<std::int64_t> whole_number(const value& of, const complaint& otherwise) {
    if (const auto* number = std::get_if<std::int64_t>(&of.data)) {
        return *number;
    }
    const auto* plain = std::get_if<plain_text>(&of.data);
    if (plain == nullptr) {
        return expected("an integer", of, otherwise.remedy);
    }
    const char* end = plain->text.data() + plain->text.size();
    std::int64_t number = 0;
    const auto [stopped, failure] = std::from_chars(plain->text.data(), end, number);
    if (failure != std::errc{} || stopped != end) {
        return complaint{in_quotes(plain->text) + otherwise.what, otherwise.remedy};
    }
    return number;
}

std::string allowed_integers(const bounds<std::int64_t>& allowed) {
    const std::string least = std::to_string(allowed.least);
    return allowed.most
               ? "write a whole number from " + least + " to " + std::to_string(*allowed.most)
               : "write a whole number of at least " + least;
}

}  // namespace

complaint expected(std::string_view kind, const value& found, std::string remedy) {
    return {"expected " + std::string(kind) + ", found " + std::string(type_name(found)),
            std::move(remedy)};
}

read_result<std::string> read_text(const value& of) {
    const std::string* text = text_of(of);
    if (text == nullptr) {
        return expected("a string", of, "write it in quotes");
    }
    if (text->find('\0') != std::string::npos) {
        return complaint{"holds a NUL character", "remove that character"};
    }
    return *text;
}

read_result<bool> read_boolean(const value& of) {
    if (const auto* boolean = std::get_if<bool>(&of.data)) {
        return *boolean;
    }
    const std::string remedy = "write true or false";
    const auto* plain = std::get_if<plain_text>(&of.data);
    if (plain == nullptr) {
        return expected("a boolean", of, remedy);
    }
    if (plain->text != "true" && plain->text != "false") {
        return complaint{in_quotes(plain->text) + " is neither true nor false", remedy};
    }
    return plain->text == "true";
}

read_result<std::int64_t> read_integer(const value& of, bounds<std::int64_t> allowed) {
    const std::string remedy = allowed_integers(allowed);
    const auto number = whole_number(of, {" is not a whole number", remedy});
    if (number && (*number < allowed.least || (allowed.most && *number > *allowed.most))) {
        return complaint{std::to_string(*number) + " is out of range", remedy};
    }
    return number;
}

read_result<value_list> read_list(const value& of) {
    if (const auto* list = std::get_if<value_list>(&of.data)) {
        return *list;
    }
    if (const auto* plain = std::get_if<plain_text>(&of.data)) {
        return split_at_commas(plain->text, of.where);
    }
    return expected("a list of strings", of, "write it in brackets, such as [\"a\", \"b\"]");
}

}  // namespace walrelay::config
