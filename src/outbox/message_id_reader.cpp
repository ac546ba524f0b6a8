#include "outbox/message_id_reader.hpp"

#include "core/assert.hpp"
#include "outbox/addressing.hpp"
#include "outbox/header_value.hpp"
#include "outbox/resolved_columns.hpp"
#include "outbox/row_view.hpp"
#include "outbox/table_plan.hpp"

#include <algorithm>
#include <utility>

namespace walrelay::outbox {

struct message_id_reader::state {
    table_plan plan;
    relation table;
    resolved_columns resolved;
    /// As wide as the table; what is not needed stays NULL.
    std::vector<field> fields;
    std::vector<std::string> needed;
    /// For each of `needed`.
    std::vector<std::uint32_t> places;
    std::vector<field> plain_fields;
    std::string raw;
};

result<message_id_reader> message_id_reader::make(const outbox_table& table,
                                                  std::vector<column> columns,
                                                  const domain_types& domains) {
    auto plan = make_plan(table);
    if (!plan) {
        return plan.error();
    }
    auto initial = std::make_unique<state>();
    initial->plan = std::move(*plan);
    initial->table = {table.table.schema, table.table.name, std::move(columns), 0};
    initial->resolved = resolve(initial->plan, initial->table.columns, domains);
    if (!initial->resolved.problems.empty()) {
        return error{errc::row_unmappable, initial->resolved.problems.front(),
                     "change the table or its configuration"};
    }
    initial->fields.resize(initial->table.columns.size());
    for (const auto index : initial->resolved.message_id) {
        const auto& used = initial->table.columns[index];
        if (std::find(initial->needed.begin(), initial->needed.end(), used.name) ==
            initial->needed.end()) {
            initial->needed.push_back(used.name);
            initial->places.push_back(index);
        }
    }
    return message_id_reader(std::move(initial));
}

message_id_reader::message_id_reader(std::unique_ptr<state> initial) : state_(std::move(initial)) {}
message_id_reader::message_id_reader(message_id_reader&&) noexcept = default;
message_id_reader& message_id_reader::operator=(message_id_reader&&) noexcept = default;
message_id_reader::~message_id_reader() = default;

const std::vector<std::string>& message_id_reader::columns() const {
    return state_->needed;
}

result<void> message_id_reader::read(std::span<const field> values, std::string& id) {
    auto& here = *state_;
    WALRELAY_ASSERT(values.size() == here.places.size());
    for (std::size_t index = 0; index < values.size(); ++index) {
        here.fields[here.places[index]] = values[index];
    }
    const auto row =
        with_plain_byteas({&here.table, here.fields}, here.resolved, here.plain_fields);
    const position nowhere;
    const row_view view{here.plan, here.resolved, row, nowhere};
    if (auto rendered = render_message_id(view, here.raw); !rendered) {
        return rendered;
    }
    id.clear();
    append_message_id(id, here.raw);
    return {};
}

}  // namespace walrelay::outbox
