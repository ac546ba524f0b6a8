#include "wal/wal2json/wal2json_relations.hpp"

#include <algorithm>
#include <string>

namespace walrelay::wal {
namespace {

bool same_columns(std::span<const column> known, std::span<const wal2json_column> described) {
    return std::ranges::equal(known, described, [](const auto& one, const auto& other) {
        return one.type == other.type && one.name == other.name;
    });
}

}  // namespace

wal2json_table& wal2json_relations::describe(std::string_view schema, std::string_view name,
                                             std::span<const wal2json_column> columns) {
    wal2json_table& table = find_or_add(schema, name);
    relation& known = table.description;
    if (known.revision != 0 && same_columns(known.columns, columns)) {
        return table;
    }
    known.columns.clear();
    for (const auto& each : columns) {
        known.columns.push_back({std::string{each.name}, each.type});
    }
    known.revision = ++last_revision_;
    return table;
}

const wal2json_table* wal2json_relations::find(std::string_view schema, std::string_view name) {
    const auto known = tables_.find(by_name::name_views{schema, name});
    if (known == tables_.end()) {
        return nullptr;
    }
    last_ = &known->second;
    return last_;
}

wal2json_table& wal2json_relations::find_or_add(std::string_view schema, std::string_view name) {
    if (last_ != nullptr && last_->description.name == name &&
        last_->description.schema == schema) {
        return *last_;
    }
    auto known = tables_.find(by_name::name_views{schema, name});
    if (known == tables_.end()) {
        if (tables_.size() >= tables_max) {
            tables_.clear();
        }
        table_name key{std::string{schema}, std::string{name}};
        wal2json_table added{{key.schema, key.name, {}, 0}, {}};
        known = tables_.emplace(std::move(key), std::move(added)).first;
    }
    last_ = &known->second;
    return *last_;
}

}  // namespace walrelay::wal
