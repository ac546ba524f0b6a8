#include "relay/table_catalog.hpp"

namespace walrelay::relay {

table_catalog::table_catalog(const std::vector<outbox_table>& tables, const postgres_facts& facts)
    : domains_(facts.domains) {
    for (const auto& other : facts.other_tables) {
        settle_as_other(other);
    }
    for (std::size_t index = 0; index < tables.size(); ++index) {
        const answer ours{answer::kind::outbox, index};
        known_[tables[index].table] = ours;
        columns_.emplace_back();
        partitioned_.push_back(index < facts.tables.size() && facts.tables[index].partitioned);
        if (index < facts.tables.size()) {
            columns_.back() = facts.tables[index].columns;
            for (const auto& leaf : facts.tables[index].leaves) {
                known_[leaf] = ours;
            }
        }
    }
}

table_catalog::answer table_catalog::find(const table_name& table) const {
    const auto found = known_.find(table);
    return found == known_.end() ? answer{} : found->second;
}

}  // namespace walrelay::relay
