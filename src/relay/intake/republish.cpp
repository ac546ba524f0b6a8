#include "relay/intake/republish.hpp"

#include "core/lsn.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace walrelay::relay {

bool publishes_again(const republish_rule& rule, const row_update& row) {
    const auto& columns = row.table->columns;
    const auto found = std::ranges::find(columns, rule.column, &column::name);
    if (found == columns.end()) {
        return false;
    }
    const auto index = static_cast<std::size_t>(found - columns.begin());
    if (!row.missing.empty() && row.missing[index] != 0) {
        return false;  // left as it was
    }
    const auto& before = row.before[index];
    const bool is_known = before.has_value() || row.before_is_whole;
    return row.fields[index] == rule.value && !(is_known && before == rule.value);
}

std::string republish_occasion(const commit_position& where, const lineage& line) {
    constexpr std::size_t length = 64;
    std::array<char, length> text{};
    static_cast<void>(std::snprintf(text.data(), text.size(), "republish-%016llX-%llu",
                                    static_cast<unsigned long long>(where.row.value),
                                    static_cast<unsigned long long>(where.index)));
    const auto timeline = line.timeline_of(where.row);
    return text.data() + (timeline > 1 ? "-" + std::to_string(timeline) : "");
}

unfinished_row::unfinished_row(std::size_t table, commit_position where, const row_update& row)
    : table_(table), where_(where) {
    for (std::size_t index = 0; index < row.fields.size(); ++index) {
        if (!row.missing.empty() && row.missing[index] != 0) {
            continue;
        }
        known_.columns.push_back(row.table->columns[index]);
        known_.values.emplace_back(row.fields[index]);
    }
}

table_row unfinished_row::completed(table_row fetched) const {
    for (std::size_t index = 0; index < fetched.columns.size(); ++index) {
        const auto same =
            std::ranges::find(known_.columns, fetched.columns[index].name, &column::name);
        if (same != known_.columns.end()) {
            fetched.columns[index].type = same->type;
            fetched.values[index] =
                known_.values[static_cast<std::size_t>(same - known_.columns.begin())];
        }
    }
    return fetched;
}

row_of_table::row_of_table(const table_name& name, const table_row& of, std::uint64_t revision)
    : table_{name.schema, name.name, of.columns, revision} {
    for (const auto& value : of.values) {
        fields_.emplace_back(value);
    }
}

}  // namespace walrelay::relay
