// TOML text becomes values.
#include "config/document.hpp"

#include "config/quote.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <tuple>

namespace walrelay::config {
namespace {

using placing = std::function<std::string(const toml::source_region&)>;

std::string_view foreign_type(toml::node_type type) {
    return type == toml::node_type::floating_point ? "a float"
           : type == toml::node_type::date         ? "a date"
           : type == toml::node_type::time         ? "a time"
                                                   : "a date and time";
}

value convert(const toml::node& node, const toml::source_region& at, const placing& place);

value_table convert_table(const toml::table& table, const placing& place) {
    // toml++ keeps keys in the order of the alphabet; people expect the order of the file.
    std::vector<const toml::key*> names;
    for (const auto& [name, node] : table) {
        names.push_back(&name);
    }
    const auto begin_of = [](const toml::key* name) {
        return std::tuple(name->source().begin.line, name->source().begin.column);
    };
    std::sort(names.begin(), names.end(), [&](const toml::key* left, const toml::key* right) {
        return begin_of(left) < begin_of(right);
    });
    value_table members;
    for (const toml::key* name : names) {
        members.push_back(
            {std::string(name->str()), convert(*table.get(name->str()), name->source(), place)});
    }
    return members;
}

value convert(const toml::node& node, const toml::source_region& at, const placing& place) {
    value made{place(at), foreign{foreign_type(node.type())}};
    if (const auto* table = node.as_table()) {
        made.data = convert_table(*table, place);
    } else if (const auto* array = node.as_array()) {
        value_list elements;
        for (const toml::node& each : *array) {
            elements.push_back(convert(each, each.source(), place));
        }
        made.data = std::move(elements);
    } else if (const auto* text = node.as_string()) {
        made.data = text->get();
    } else if (const auto* integer = node.as_integer()) {
        made.data = integer->get();
    } else if (const auto* boolean = node.as_boolean()) {
        made.data = boolean->get();
    }
    return made;
}

/// The parser's words up to the first piece of a value that it quotes, which may be of a password;
/// single characters and, where a key is given twice, its name may stay.
std::string without_values(std::string_view description) {
    if (description.find("existing") != std::string_view::npos) {
        return printable(description);
    }
    std::size_t quote = description.find('\'');
    while (quote != std::string_view::npos && quote + 2 < description.size() &&
           description[quote + 2] == '\'') {
        quote = description.find('\'', quote + 3);
    }
    const std::string kept = printable(description.substr(0, quote));
    return quote == std::string_view::npos ? kept : kept + "...";
}

std::string_view line_number(std::string_view text, std::size_t number) {
    for (; number > 1 && !text.empty(); --number) {
        text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
    }
    return text.substr(0, text.find('\n'));
}

std::string_view without_blanks(std::string_view text) {
    const auto begin = std::min(text.find_first_not_of(" \t\r"), text.size());
    text.remove_prefix(begin);
    return text.substr(0, text.find_last_not_of(" \t\r") + 1);
}

/// Of a line like `slot = walrelay` or `ack_timeout = 5s`; the value can be a password, and is not
/// shown. Empty where something else is wrong.
std::string where_quotes_lack(std::string_view line) {
    const auto equals = line.find('=');
    const auto key = without_blanks(line.substr(0, equals));
    constexpr std::string_view key_letters =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    if (equals == std::string_view::npos || key.empty() ||
        key.find_first_not_of(key_letters) != std::string_view::npos) {
        return "";
    }
    auto value = without_blanks(line.substr(equals + 1));
    const bool is_list = value.starts_with('[');
    if (is_list) {
        value = without_blanks(value.substr(1));
    }
    if (value.empty() || value.find_first_of("\"'") == 0 || value.starts_with('{')) {
        return "";
    }
    return "text stands in double quotes: " + std::string(key) +
           (is_list ? " = [\"...\"]" : " = \"...\"");
}

}  // namespace

boost::system::result<value_table, problem> parse_document(std::string_view text,
                                                           const std::string& file_name) {
    const placing place = [&](const toml::source_region& at) {
        return file_name + ':' + std::to_string(at.begin.line);
    };
    // The library as Debian builds it throws; no exception leaves this file.
    try {
        return convert_table(toml::parse(text), place);
    } catch (const toml::parse_error& error) {
        const auto hint = where_quotes_lack(line_number(text, error.source().begin.line));
        return problem{
            place(error.source()), "", "is not TOML: " + without_values(error.description()),
            (hint.empty() ? "correct the line" : hint) + "; nothing of the file could be used"};
    }
}

boost::system::result<value, problem> parse_inline_table(std::string_view text,
                                                         const std::string& where) {
    const problem malformed{where, "", "is not an inline table of TOML",
                            "write it as in the file, such as { name = \"text\" }"};
    try {
        const toml::table parsed = toml::parse("table = " + std::string(text));
        const toml::node* table = parsed.get("table");
        if (parsed.size() == 1 && table->is_table()) {
            return convert(*table, table->source(),
                           [&](const toml::source_region&) { return where; });
        }
        return malformed;
    } catch (const toml::parse_error&) {
        return malformed;
    }
}

}  // namespace walrelay::config
