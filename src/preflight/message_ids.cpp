#include "preflight/message_ids.hpp"

#include "outbox/id_inverse.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace walrelay::preflight {
namespace {

bool counts(const outbox::id_inverse& ids) {
    using outbox::value_form;
    return std::ranges::any_of(ids.alternatives(), [](const auto& each) {
        return each.form == value_form::int2 || each.form == value_form::int4 ||
               each.form == value_form::int8;
    });
}

/// Of the tables that count their rows; what cannot be turned round has more than a number in it.
std::vector<std::optional<outbox::id_inverse>> counting(const expectations& wanted,
                                                        const postgres_facts& facts) {
    std::vector<std::optional<outbox::id_inverse>> ids(facts.tables.size());
    for (std::size_t index = 0; index < ids.size(); ++index) {
        const auto& table = facts.tables[index];
        if (wanted.tables[index].is_tableless() || !table.exists) {
            continue;
        }
        auto made = outbox::id_inverse::make(wanted.tables[index], table.columns, facts.domains);
        if (made && counts(*made)) {
            ids[index] = std::move(*made);
        }
    }
    return ids;
}

}  // namespace

void look_at_message_ids(const expectations& wanted, const postgres_facts& facts,
                         findings_list& found) {
    const auto ids = counting(wanted, facts);
    for (std::size_t later = 0; later < ids.size(); ++later) {
        for (std::size_t earlier = 0; earlier < later; ++earlier) {
            if (!ids[later] || !ids[earlier] || !ids[later]->may_share_ids(*ids[earlier])) {
                continue;
            }
            const auto& table = wanted.tables[later].table;
            found.warning(
                "message_ids_can_be_equal",
                "rows of tables " + to_string(wanted.tables[earlier].table) + " and " +
                    to_string(table) +
                    " can have the same message id, as both count their ids: the second row "
                    "becomes a dead letter while the broker remembers the first, and where rows "
                    "are looked for in stream " +
                    wanted.stream + " a message of one table is taken for the other's",
                "for rows that are still to come, set outbox.message_id of one of them to \"" +
                    table.name + "-{id}\" (or relay them into different streams)");
        }
    }
}

}  // namespace walrelay::preflight
