#include "postgres/session/start_command.hpp"

#include "core/ascii.hpp"
#include "core/sql_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <utility>
#include <vector>

namespace walrelay::postgres {
namespace {

using plugin_option = std::pair<std::string_view, std::string>;

/// The grammar of replication commands knows no E'' strings, and a backslash is itself there.
std::string quote_command_literal(std::string_view text) {
    std::string out = "'";
    for (const char c : text) {
        out.append(c == '\'' ? 2 : 1, c);
    }
    return out + "'";
}

bool is_plain(char c) {
    return is_letter(c) || is_digit(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

void append_escaped(std::string& list, std::string_view name) {
    for (const char c : name) {
        if (!is_plain(c)) {
            list += '\\';
        }
        list += c;
    }
}

std::vector<plugin_option> pgoutput_options(const start_options& options, int version_number) {
    constexpr int first_with_messages = 140'000;
    std::vector<plugin_option> chosen = {
        {"proto_version", "1"}, {"publication_names", quote_identifier(options.publication)}};
    if (!options.message_prefixes.empty() && version_number >= first_with_messages) {
        chosen.emplace_back("messages", "true");
    }
    return chosen;
}

/// wal2json sends all messages unless it is told which: one that nobody can know sends none.
std::string prefixes_of(const start_options& options) {
    if (options.message_prefixes.empty()) {
        return "walrelay.none." + options.nonce;
    }
    return fmt::format("{}", fmt::join(options.message_prefixes, ","));
}

std::vector<plugin_option> wal2json_options(const start_options& options) {
    std::vector<plugin_option> chosen = {
        {"format-version", "2"},
        {"include-lsn", "1"},
        {"include-timestamp", "1"},
        {"include-types", "0"},
        {"include-type-oids", "1"},
        {"include-transaction", "1"},
        {"actions", options.updates ? "insert,update" : "insert"},
        {"add-msg-prefixes", prefixes_of(options)},
    };
    if (options.xids) {
        chosen.emplace_back("include-xids", "1");
    }
    if (!options.add_tables.empty()) {
        chosen.emplace_back("add-tables", wal2json_table_list(options.add_tables));
    }
    return chosen;
}

}  // namespace

std::string wal2json_table_list(std::span<const table_name> tables) {
    std::string list;
    for (const auto& table : tables) {
        if (!list.empty()) {
            list += ',';
        }
        append_escaped(list, table.schema);
        list += '.';
        append_escaped(list, table.name);
    }
    return list;
}

std::string start_command(const start_options& options, int version_number) {
    const auto chosen = options.plugin == output_plugin::wal2json
                            ? wal2json_options(options)
                            : pgoutput_options(options, version_number);
    std::string list;
    for (const auto& [name, value] : chosen) {
        if (!list.empty()) {
            list += ", ";
        }
        list += quote_identifier(name) + " " + quote_command_literal(value);
    }
    return fmt::format("START_REPLICATION SLOT {} LOGICAL {} ({})", quote_identifier(options.slot),
                       to_string(options.from), list);
}

}  // namespace walrelay::postgres
