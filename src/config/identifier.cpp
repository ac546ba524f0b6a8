// The name of a table as SQL writes it, turned into the name in the catalog.
#include "config/identifier.hpp"

#include "config/quote.hpp"

#include <optional>

namespace walrelay::config {
namespace {

constexpr std::size_t identifier_bytes_limit = 63;  // NAMEDATALEN - 1
constexpr std::string_view quoting_remedy =
    "write schema.table, and double quotes around a part that needs them in SQL: "
    R"(public."My Table")";

bool begins_identifier(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           static_cast<unsigned char>(c) >= 0x80U;
}

bool continues_identifier(char c) {
    return begins_identifier(c) || (c >= '0' && c <= '9') || c == '$';
}

char folded(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// Takes an identifier without quotes off the front; nothing if there is none.
std::optional<std::string> take_bare(std::string_view& text) {
    if (text.empty() || !begins_identifier(text.front())) {
        return std::nullopt;
    }
    std::string name;
    while (!text.empty() && continues_identifier(text.front())) {
        name += folded(text.front());
        text.remove_prefix(1);
    }
    return name;
}

/// Takes a quoted identifier off the front; nothing if it is empty or does not end.
std::optional<std::string> take_quoted(std::string_view& text) {
    std::string name;
    text.remove_prefix(1);
    while (!text.empty()) {
        const bool doubled = text.starts_with(R"("")");
        if (text.front() == '"' && !doubled) {
            text.remove_prefix(1);
            return name.empty() ? std::nullopt : std::optional(name);
        }
        name += text.front();
        text.remove_prefix(doubled ? 2 : 1);
    }
    return std::nullopt;
}

std::optional<std::string> take_part(std::string_view& text) {
    return text.starts_with('"') ? take_quoted(text) : take_bare(text);
}

/// One or two parts with a dot between; nothing for anything else.
std::optional<table_name> split(std::string_view text) {
    auto first = take_part(text);
    if (first && text.empty()) {
        return table_name{"public", *first};
    }
    if (!first || !text.starts_with('.')) {
        return std::nullopt;
    }
    text.remove_prefix(1);
    auto second = take_part(text);
    if (!second || !text.empty()) {
        return std::nullopt;
    }
    return table_name{*first, *second};
}

}  // namespace

read_result<table_name> read_table_name(std::string_view text) {
    auto name = split(text);
    if (!name) {
        return complaint{in_quotes(text) + " is not the name of a table",
                         std::string(quoting_remedy)};
    }
    for (const std::string& part : {name->schema, name->name}) {
        if (part.size() > identifier_bytes_limit) {
            return complaint{
                in_quotes(part) + " is longer than the 63 bytes of a name in PostgreSQL",
                "write the name as \\d in psql shows it"};
        }
    }
    return *name;
}

}  // namespace walrelay::config
