#include "relay/intake/table_catalog.hpp"

#include "core/control.hpp"
#include "outbox/type_kind.hpp"

#include <algorithm>

namespace walrelay::relay {
namespace {

/// pg_publication_tables has the root of a partitioned table where its name is sent, else the
/// leaves (PostgreSQL documentation, "pg_publication_tables").
bool names(const publication_facts& publication, const table_name& table) {
    return std::ranges::find(publication.tables, table) != publication.tables.end();
}

/// Of a publication of all tables, of the database or of a schema, rows of any other table come as
/// well: what is none of ours is left alone.
bool lists_tables(const publication_facts& publication) {
    return !publication.for_all_tables && !publication.for_schemas;
}

}  // namespace

table_catalog::table_catalog(const std::vector<outbox_table>& tables, const postgres_facts& facts)
    : domains_(facts.domains), types_(facts.types), control_secret_(facts.control_secret) {
    for (const auto& other : facts.other_tables) {
        known_[other].first = {.what = answer::kind::other, .before = answer::past::now_by_itself};
    }
    known_[control_table()].first = {.what = answer::kind::control};
    for (std::size_t index = 0; index < tables.size(); ++index) {
        const answer ours{.what = answer::kind::outbox, .index = index};
        known_[tables[index].table].first = ours;
        columns_.emplace_back();
        partitioned_.push_back(index < facts.tables.size() && facts.tables[index].partitioned);
        by_leaf_.push_back(facts.publication && lists_tables(*facts.publication) &&
                           !names(*facts.publication, tables[index].table));
        if (index < facts.tables.size()) {
            columns_.back() = facts.tables[index].columns;
            for (const auto& leaf : facts.tables[index].leaves) {
                known_[leaf].first = ours;
            }
            take_oids(facts.tables[index], ours);
        }
    }
    for (const auto& gone : facts.gone_partitions) {
        take_gone(gone);
    }
    const bool is_listed =
        facts.publication && !facts.publication->for_all_tables && !facts.publication->for_schemas;
    names_suffice_ = is_listed || facts.open_names.empty();
}

bool table_catalog::names_leaves(output_plugin plugin) const {
    for (std::size_t index = 0; index < partitioned_.size(); ++index) {
        if (is_named_by_leaf(index, plugin)) {
            return true;
        }
    }
    return false;
}

void table_catalog::take_oids(const table_facts& table, const answer& ours) {
    for (const auto leaf : table.leaf_oids) {
        by_oid_[leaf] = ours;
    }
    if (table.oid != 0) {
        by_oid_[table.oid] = ours;
    }
}

void table_catalog::take_gone(const gone_partition& gone) {
    const auto root = known_.find(gone.root);
    const auto leaf = known_.find(gone.leaf);
    const bool is_ours = leaf != known_.end() && leaf->second.first.what == answer::kind::outbox;
    if (is_ours) {
        return;
    }
    const answer apart{.what = answer::kind::other};
    const bool is_configured =
        root != known_.end() && root->second.first.what == answer::kind::outbox;
    if (!is_configured || gone.at == lsn{}) {
        known_[gone.leaf] = {apart};
        return;
    }
    // Where it has rows of later transactions, it may have become a partition again.
    auto until_then = root->second.first;
    until_then.until = gone.at;
    known_[gone.leaf] = {until_then, {}};
}

table_catalog::answer table_catalog::find(const table_name& table, lsn commit) const {
    const auto found = known_.find(table);
    if (found == known_.end()) {
        const auto learned = learned_.find(table);
        return learned == learned_.end() ? answer{} : learned->second;
    }
    const auto& first = found->second.first;
    return first.until == forever || commit < first.until ? first : found->second.later;
}

std::optional<std::size_t> table_catalog::outbox_of(const field& schema, const field& name) const {
    const auto found =
        find(table_name{std::string(schema.value_or("")), std::string(name.value_or(""))});
    return found.what == answer::kind::outbox ? std::optional(found.index) : std::nullopt;
}

table_catalog::answer table_catalog::find_relation(const relation& table, lsn commit) const {
    const auto named = find(table_name{table.schema, table.name}, commit);
    if (table.oid == 0 || by_oid_.empty()) {
        return named;
    }
    if (const auto found = by_oid_.find(table.oid); found != by_oid_.end()) {
        return found->second;
    }
    const bool is_taken = named.what == answer::kind::outbox && !names_suffice_;
    return is_taken ? answer{.what = answer::kind::unproved, .index = named.index} : named;
}

bool table_catalog::knows_type(type_oid type) const {
    return outbox::is_known(type, domains_, types_);
}

void table_catalog::settle_as_other(const table_name& table) {
    const auto found = known_.find(table);
    if (found != known_.end() && found->second.first.what == answer::kind::outbox) {
        found->second.later = {.what = answer::kind::other};
        return;
    }
    known_[table] = {{.what = answer::kind::other, .before = answer::past::vanished}, {}};
}

void table_catalog::learn_other(const table_name& table, bool exists) {
    if (known_.contains(table)) {
        settle_as_other(table);
        return;
    }
    if (learned_.size() >= learned_max) {
        learned_.clear();
    }
    learned_[table] = {.what = answer::kind::other,
                       .before = exists ? answer::past::now_by_itself : answer::past::vanished};
}

}  // namespace walrelay::relay
