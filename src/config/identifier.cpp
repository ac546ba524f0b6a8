// The name of a table as SQL writes it, turned into the name in the catalog.
#include "config/identifier.hpp"

#include "config/quote.hpp"
#include "core/ascii.hpp"

namespace walrelay::config {
namespace {

bool begins_identifier(char c) {
    return is_letter(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80U;
}

bool continues_identifier(char c) {
    return begins_identifier(c) || is_digit(c) || c == '$';
}

/// Takes one part off the front, with or without quotes; empty if there is none.
std::string take_part(std::string_view& text) {
    std::string name;
    if (!text.starts_with('"')) {
        while (!text.empty() &&
               (name.empty() ? begins_identifier : continues_identifier)(text[0])) {
            name += lower(text[0]);
            text.remove_prefix(1);
        }
        return name;
    }
    text.remove_prefix(1);
    while (!text.empty()) {
        const bool doubled = text.starts_with(R"("")");
        const char c = text[0];
        text.remove_prefix(doubled ? 2 : 1);
        if (c == '"' && !doubled) {
            return name;
        }
        name += c;
    }
    return "";
}

}  // namespace

read_result<table_name> read_table_name(std::string_view text) {
    constexpr std::size_t longest_bytes = 63;  // NAMEDATALEN - 1
    std::string_view rest = text;
    table_name name{"public", take_part(rest)};
    if (rest.starts_with('.') && !name.name.empty()) {
        rest.remove_prefix(1);
        name = {name.name, take_part(rest)};
    }
    if (name.name.empty() || !rest.empty()) {
        return complaint{in_quotes(text) + " is not the name of a table",
                         "write schema.table, and double quotes around a part that needs them in "
                         "SQL: public.\"My Table\""};
    }
    for (const std::string& part : {name.schema, name.name}) {
        if (part.size() > longest_bytes) {
            return complaint{
                in_quotes(part) + " is longer than the 63 bytes of a name in PostgreSQL",
                "write the name as \\d in psql shows it"};
        }
    }
    return name;
}

}  // namespace walrelay::config
