#include "wal/wal2json_relations.hpp"

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

const relation& wal2json_relations::describe(std::string_view schema, std::string_view name,
                                             std::span<const wal2json_column> columns) {
    relation& known = find_or_add(schema, name);
    if (known.revision != 0 && same_columns(known.columns, columns)) {
        return known;
    }
    known.columns.clear();
    for (const auto& each : columns) {
        known.columns.push_back({std::string{each.name}, each.type});
    }
    known.revision = ++last_revision_;
    return known;
}

relation& wal2json_relations::find_or_add(std::string_view schema, std::string_view name) {
    if (last_ != nullptr && last_->name == name && last_->schema == schema) {
        return *last_;
    }
    auto known = relations_.find(by_name::name_views{schema, name});
    if (known == relations_.end()) {
        table_name key{std::string{schema}, std::string{name}};
        relation added{key.schema, key.name, {}, 0};
        known = relations_.emplace(std::move(key), std::move(added)).first;
    }
    last_ = &known->second;
    return *last_;
}

}  // namespace walrelay::wal
