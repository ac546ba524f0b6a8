#include "relay/replay/replay_choice.hpp"

#include "preflight/preflight.hpp"

#include <algorithm>

namespace walrelay::relay {

bool replay_choice::takes_table(std::size_t table) const {
    return tables.empty() || std::ranges::find(tables, table) != tables.end();
}

bool replay_choice::takes(const message& content) const {
    if (!subject.empty() && !preflight::subject_covers(subject, content.subject)) {
        return false;
    }
    if (aggregates.empty()) {
        return true;
    }
    auto aggregate = content.aggregate;
    std::ranges::replace(aggregate, '\0', '/');
    return std::ranges::find(aggregates, aggregate) != aggregates.end();
}

}  // namespace walrelay::relay
