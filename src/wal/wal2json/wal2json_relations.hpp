// The tables seen so far. wal2json describes a table with each row anew, so a row is compared with
// what is known, and only a table that really changed gets a new revision.
#pragma once

#include "core/change.hpp"
#include "core/first_revision.hpp"
#include "core/outbox_table.hpp"
#include "wal/wal2json/wal2json_object.hpp"
#include "wal/wal2json/wal2json_row_template.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <utility>

namespace walrelay::wal {

struct wal2json_table {
    relation description;
    /// Fits no row until whoever wants it makes it. Compare its revision with the description's.
    wal2json_row_template text;
};

class wal2json_relations {
public:
    /// Revisions count from after `last_revision`.
    explicit wal2json_relations(std::uint64_t last_revision = first_revision::of_inserts)
        : last_revision_(last_revision) {}

    /// The table stays where it is until another is described; its description changes with the
    /// next different one. So many tables are kept that a database hardly has more at a time.
    [[nodiscard]] wal2json_table& describe(std::string_view schema, std::string_view name,
                                           std::span<const wal2json_column> columns);

    /// The table that was described or found last; null before the first.
    [[nodiscard]] const wal2json_table* last() const { return last_; }

    /// Null if it was never described.
    [[nodiscard]] const wal2json_table* find(std::string_view schema, std::string_view name);

    static constexpr std::size_t tables_max = 8192;

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

    [[nodiscard]] wal2json_table& find_or_add(std::string_view schema, std::string_view name);

    std::map<table_name, wal2json_table, by_name> tables_;
    /// Rows come in runs of one table.
    wal2json_table* last_ = nullptr;
    std::uint64_t last_revision_;
};

}  // namespace walrelay::wal
