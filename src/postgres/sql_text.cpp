#include "postgres/sql_text.hpp"

#include <fmt/format.h>

namespace walrelay::postgres {
namespace {

std::string quoted(std::string_view text, char quote) {
    std::string out;
    out.reserve(text.size() + 2);
    out += quote;
    for (const char c : text) {
        if (c == quote) {
            out += c;
        }
        out += c;
    }
    out += quote;
    return out;
}

}  // namespace

std::string quote_identifier(std::string_view name) {
    return quoted(name, '"');
}

std::string quote_literal(std::string_view text) {
    if (text.find('\\') == std::string_view::npos) {
        return quoted(text, '\'');
    }
    // An E'' string means the same whatever standard_conforming_strings is set to.
    std::string escaped;
    for (const char c : text) {
        escaped.append(c == '\\' ? 2 : 1, c);
    }
    return "E" + quoted(escaped, '\'');
}

std::string quote_table(const table_name& table) {
    return quote_identifier(table.schema) + "." + quote_identifier(table.name);
}

std::string create_publication_sql(std::string_view publication,
                                   std::span<const table_name> tables) {
    std::string list;
    for (const auto& table : tables) {
        if (!list.empty()) {
            list += ", ";
        }
        list += quote_table(table);
    }
    return fmt::format(
        "CREATE PUBLICATION {} FOR TABLE {} "
        "WITH (publish = 'insert', publish_via_partition_root = true);",
        quote_identifier(publication), list);
}

std::string create_slot_sql(std::string_view slot, output_plugin plugin) {
    return fmt::format("SELECT lsn FROM pg_create_logical_replication_slot({}, '{}');",
                       quote_literal(slot), to_string(plugin));
}

std::string drop_slot_sql(std::string_view slot) {
    return fmt::format("SELECT pg_drop_replication_slot({});", quote_literal(slot));
}

std::string grant_replication_sql(std::string_view role) {
    return fmt::format("ALTER ROLE {} REPLICATION;", quote_identifier(role));
}

std::string allow_wal2json_sql() {
    return "ALTER SYSTEM SET output_plugin_libraries = pgoutput, test_decoding, wal2json; "
           "SELECT pg_reload_conf();";
}

}  // namespace walrelay::postgres
