#include "wal/wal2json/wal2json_row_template.hpp"

#include <algorithm>
#include <string_view>

namespace walrelay::wal {
namespace {

bool is_escaped(std::string_view name) {
    return std::ranges::any_of(name, [](char letter) {
        return letter == '"' || letter == '\\' || static_cast<unsigned char>(letter) < 0x20U;
    });
}

bool has_escapes(const relation& table) {
    return is_escaped(table.schema) || is_escaped(table.name) ||
           std::ranges::any_of(table.columns, is_escaped, &column::name);
}

/// Oids are printed with %d.
std::string up_to_value(const column& of) {
    return R"({"name":")" + of.name + R"(","typeoid":)" +
           std::to_string(static_cast<std::int32_t>(of.type)) + R"(,"value":)";
}

}  // namespace

wal2json_row_template::wal2json_row_template(const relation& table) : revision_{table.revision} {
    if (has_escapes(table)) {
        return;
    }
    std::string text =
        R"(,"schema":")" + table.schema + R"(","table":")" + table.name + R"(","columns":[)";
    for (const auto& each : table.columns) {
        between_.push_back(text + up_to_value(each));
        text = "},";
    }
    between_.push_back(table.columns.empty() ? text + "]}" : "}]}");
}

bool wal2json_row_template::take(wal2json_cursor row, std::vector<field>& fields) const {
    if (between_.empty() || !row.take(between_.front())) {
        return false;
    }
    const auto count = between_.size() - 1;
    fields.resize(count);
    for (std::size_t index = 0; index < count; ++index) {
        if (!row.take_value(fields[index]) || !row.take(between_[index + 1])) {
            return false;
        }
    }
    return row.at_end();
}

}  // namespace walrelay::wal
