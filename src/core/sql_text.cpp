#include "core/sql_text.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace walrelay {
namespace {

std::string doubled(std::string_view text, std::string_view special) {
    std::string quoted;
    for (const char each : text) {
        quoted.append(special.find(each) == std::string_view::npos ? 1 : 2, each);
    }
    return quoted;
}

bool is_word(char each) {
    const auto byte = static_cast<unsigned char>(each);
    return std::isalnum(byte) != 0 || each == '_' || each == '$' || byte >= 0x80U;
}

/// The end of what the quote at `from` begins.
std::size_t end_of_quoted(const std::string& sql, std::size_t from) {
    const auto closing = sql.find(sql[from], from + 1);
    return closing == std::string::npos ? sql.size() : closing + 1;
}

bool same_word(std::string_view written, const std::string& name) {
    return std::ranges::equal(written, name, [](char left, char right) {
        return std::tolower(static_cast<unsigned char>(left)) == static_cast<unsigned char>(right);
    });
}

}  // namespace

std::string quote_identifier(std::string_view name) {
    return '"' + doubled(name, "\"") + '"';
}

std::string quote_literal(std::string_view text) {
    const bool escaped = text.find('\\') != std::string_view::npos;
    return (escaped ? "E'" : "'") + doubled(text, "'\\") + '\'';
}

std::string quote_table(const table_name& table) {
    return quote_identifier(table.schema) + "." + quote_identifier(table.name);
}

std::string create_publication_sql(std::string_view publication, std::span<const table_name> tables,
                                   std::string_view publish) {
    std::string sql = "CREATE PUBLICATION " + quote_identifier(publication);
    for (const auto& table : tables) {
        sql += (&table == tables.data() ? " FOR TABLE " : ", ") + quote_table(table);
    }
    return sql + " WITH (publish = " + quote_literal(publish) +
           ", publish_via_partition_root = true);";
}

std::string add_to_publication_sql(std::string_view publication, const table_name& table) {
    return "ALTER PUBLICATION " + quote_identifier(publication) + " ADD TABLE " +
           quote_table(table) + ";";
}

std::string unfilter_sql(std::string_view publication, const table_name& table) {
    return "BEGIN; ALTER PUBLICATION " + quote_identifier(publication) + " DROP TABLE " +
           quote_table(table) + "; " + add_to_publication_sql(publication, table) + " COMMIT;";
}

std::string_view published_operations(std::span<const outbox_table> tables) {
    const bool updates = std::any_of(tables.begin(), tables.end(), [](const outbox_table& each) {
        return each.republish.has_value();
    });
    return updates ? "insert, update" : "insert";
}

std::string create_slot_sql(std::string_view slot, output_plugin plugin, bool failover) {
    return "SELECT lsn FROM pg_create_logical_replication_slot(" + quote_literal(slot) + ", '" +
           to_string(plugin) + (failover ? "', failover => true);" : "');");
}

std::string set_failover_sql(std::string_view slot, bool failover) {
    return "ALTER_REPLICATION_SLOT " + quote_identifier(slot) + " (FAILOVER " +
           (failover ? "true)" : "false)");
}

std::string drop_slot_sql(std::string_view slot) {
    return "SELECT pg_drop_replication_slot(" + quote_literal(slot) + ");";
}

std::string grant_replication_sql(std::string_view role) {
    return "ALTER ROLE " + quote_identifier(role) + " REPLICATION;";
}

bool mentions_column(const std::string& sql, const std::string& name) {
    for (std::size_t at = 0; at < sql.size();) {
        std::size_t end = at + 1;
        if (sql[at] == '\'' || sql[at] == '"') {
            end = end_of_quoted(sql, at);
            if (sql[at] == '"' && sql.compare(at + 1, end - at - 2, name) == 0) {
                return true;
            }
        } else if (is_word(sql[at])) {
            end = static_cast<std::size_t>(
                std::find_if_not(sql.begin() + static_cast<std::ptrdiff_t>(at), sql.end(),
                                 is_word) -
                sql.begin());
            if (same_word(std::string_view(sql).substr(at, end - at), name)) {
                return true;
            }
        }
        at = end;
    }
    return false;
}

std::string allow_wal2json_sql() {
    return "ALTER SYSTEM SET output_plugin_libraries = pgoutput, test_decoding, wal2json; "
           "SELECT pg_reload_conf();";
}

}  // namespace walrelay
