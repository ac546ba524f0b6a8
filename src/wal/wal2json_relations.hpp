// The tables seen so far. wal2json describes a table with each row anew, so a row is compared with
// what is known, and only a table that really changed gets a new revision.
#pragma once

#include "core/change.hpp"
#include "core/outbox_table.hpp"
#include "wal/wal2json_object.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <utility>

namespace walrelay::wal {

class wal2json_relations {
public:
    /// Revisions count from behind `last_revision`.
    explicit wal2json_relations(std::uint64_t last_revision = 0) : last_revision_(last_revision) {}

    /// The relation stays where it is; its content changes with the next different description.
    [[nodiscard]] const relation& describe(std::string_view schema, std::string_view name,
                                           std::span<const wal2json_column> columns);

private:
    struct by_name {
        using is_transparent = void;
        template <class One, class Other>
        bool operator()(const One& one, const Other& other) const {
            return views(one) < views(other);
        }

        using name_views = std::pair<std::string_view, std::string_view>;
        static name_views views(const table_name& table) { return {table.schema, table.name}; }
        static name_views views(const name_views& table) { return table; }
    };

    [[nodiscard]] relation& find_or_add(std::string_view schema, std::string_view name);

    std::map<table_name, relation, by_name> relations_;
    /// Rows come in runs of one table.
    relation* last_ = nullptr;
    std::uint64_t last_revision_;
};

}  // namespace walrelay::wal
