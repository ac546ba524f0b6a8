#include "outbox/reading_order.hpp"

#include "outbox/resolved_columns.hpp"
#include "outbox/table_plan.hpp"

namespace walrelay::outbox {

result<reading_order> reading_order_of(const outbox_table& table,
                                       const std::vector<column>& columns,
                                       const domain_types& domains) {
    const auto plan = make_plan(table);
    if (!plan) {
        return plan.error();
    }
    const auto resolved = resolve(*plan, columns, domains);
    if (!resolved.problems.empty()) {
        return error{errc::row_unmappable, resolved.problems.front(),
                     "change the table or its configuration"};
    }
    reading_order order;
    if (const auto& created = resolved.playing(column_role::created_at)) {
        order.columns.push_back(columns[created->index].name);
        order.follows_time = true;
    }
    if (const auto& id = resolved.playing(column_role::id)) {
        order.columns.push_back(columns[id->index].name);
        order.follows_time = order.follows_time || id->kind == type_kind::number;
    }
    return order;
}

}  // namespace walrelay::outbox
