// Names of tables, compared as people remember them.
#include "preflight/table_meant.hpp"

#include "core/ascii.hpp"
#include "core/nearest.hpp"
#include "core/sql_text.hpp"

#include <algorithm>

namespace walrelay::preflight {
namespace {

/// With quotes only where they are needed.
std::string as_written(const std::string& part) {
    const bool is_plain = std::ranges::all_of(
        part, [](char each) { return is_lower(each) || is_digit(each) || each == '_'; });
    return is_plain ? part : quote_identifier(part);
}

}  // namespace

std::string as_written(const table_name& table) {
    return as_written(table.schema) + '.' + as_written(table.name);
}

std::optional<std::string> table_meant(const table_name& wanted,
                                       const std::vector<table_name>& there) {
    std::vector<std::string> names;
    for (const auto& each : there) {
        if (folded_name(each.name) == folded_name(wanted.name)) {
            return as_written(each);
        }
        if (each.schema == wanted.schema) {
            names.push_back(each.name);
        }
    }
    const auto meant = nearest(wanted.name, names);
    return meant ? std::optional(as_written(table_name{wanted.schema, *meant})) : std::nullopt;
}

std::string hint_at_table(const table_name& wanted, const std::vector<table_name>& there) {
    const auto meant = table_meant(wanted, there);
    return meant ? "did you mean " + *meant + "? write --table '" + *meant +
                       "', in a file table = '" + *meant + "'; or "
                 : "";
}

}  // namespace walrelay::preflight
