// Which tables of the database are outboxes: what PostgreSQL's catalog said when the connection was
// made. A name that is not in it is a question (a partition made since? a renamed outbox?), never
// an answer.
#pragma once

#include "core/change.hpp"
#include "core/facts.hpp"
#include "core/outbox_table.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <vector>

namespace walrelay::relay {

class table_catalog {
public:
    struct answer {
        /// `unproved` has the name of an outbox, or of a partition, and is another table: it can be
        /// one that was dropped since, or one of somebody else who has taken the name.
        enum class kind { outbox, control, other, unproved, unknown } what = kind::unknown;
        std::size_t index = 0;  // of the outbox table in the configuration
        /// It holds for transactions that committed before it.
        lsn until = forever;
        /// Whether the table may have been a partition of an outbox that nobody remembers: it is
        /// there and no partition now, or it is not there any more.
        enum class past { known, now_by_itself, vanished } before = past::known;
    };
    static constexpr lsn forever{std::numeric_limits<std::uint64_t>::max()};

    table_catalog() = default;
    /// `tables` as they are in the configuration; `facts.tables` in the same order.
    table_catalog(const std::vector<outbox_table>& tables, const postgres_facts& facts);

    /// For a transaction that committed at `commit`; where a table was ours at any time, the answer
    /// for the earliest one is that.
    [[nodiscard]] answer find(const table_name& table, lsn commit = {}) const;
    /// The same for a table of the WAL: by its oid where the plugin tells it.
    [[nodiscard]] answer find_relation(const relation& table, lsn commit) const;
    /// The table that a row of walrelay.control names, by its place in the configuration; nothing
    /// where it is none.
    [[nodiscard]] std::optional<std::size_t> outbox_of(const field& schema,
                                                       const field& name) const;
    /// The name has been asked for with a fresh catalog and is none of ours.
    void settle_as_other(const table_name& table);
    /// The same for a name that was asked for alone. Only so many of them are kept: one that was
    /// forgotten is unknown again.
    void learn_other(const table_name& table, bool exists);
    static constexpr std::size_t learned_max = 4096;
    [[nodiscard]] std::size_t table_count() const { return partitioned_.size(); }

    /// The columns that an outbox table had then.
    [[nodiscard]] const std::vector<column>& columns_of(std::size_t index) const {
        return columns_[index];
    }

    /// Whether its rows can move from one partition to another.
    [[nodiscard]] bool is_partitioned(std::size_t index) const { return partitioned_[index]; }
    /// Whether the WAL names its partition in its place: with wal2json that of every partitioned
    /// table, with pgoutput where the publication is not by the root.
    [[nodiscard]] bool is_named_by_leaf(std::size_t index, output_plugin plugin) const {
        return partitioned_[index] && (plugin == output_plugin::wal2json || by_leaf_[index]);
    }
    /// The same of any of the tables: what they are called says nothing once a partition is
    /// detached or dropped.
    [[nodiscard]] bool names_leaves(output_plugin plugin) const;

    [[nodiscard]] const std::vector<std::pair<type_oid, type_oid>>& domains() const {
        return domains_;
    }

    /// By which rows of walrelay.control are known; empty where there is none, or it is not known.
    [[nodiscard]] const std::string& control_secret() const { return control_secret_; }

    /// Types that somebody has made and that are no domains; nothing where they were not read.
    [[nodiscard]] const std::optional<std::vector<type_oid>>& types() const { return types_; }
    /// Whether it is built in, or was there when the catalog was read.
    [[nodiscard]] bool knows_type(type_oid type) const;

private:
    struct entry {
        answer first;
        answer later = {};  // from `first.until` on
    };
    void take_gone(const gone_partition& gone);
    void take_oids(const table_facts& table, const answer& ours);

    std::map<table_name, entry> known_;
    std::map<std::uint32_t, answer> by_oid_;
    /// A table that has the name is the one: nobody else can make one, or have it published.
    bool names_suffice_ = true;
    std::map<table_name, answer> learned_;
    std::vector<std::vector<column>> columns_;
    std::vector<bool> partitioned_;
    std::vector<bool> by_leaf_;  // in the publication
    std::vector<std::pair<type_oid, type_oid>> domains_;
    std::optional<std::vector<type_oid>> types_;
    std::string control_secret_;
};

}  // namespace walrelay::relay
