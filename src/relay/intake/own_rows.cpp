#include "relay/intake/own_rows.hpp"

#include <simdjson.h>

#include <string_view>
#include <utility>

namespace walrelay::relay {

void own_rows::mark(const control_row& said, std::optional<std::size_t> table) {
    simdjson::dom::parser parser;
    simdjson::dom::array ids;
    if (!said.event ||
        parser.parse(said.event->data(), said.event->size()).get(ids) != simdjson::SUCCESS) {
        all_ = true;
        return;
    }
    if (!table) {
        return;
    }
    auto& rows = tables_[*table];
    rows.id_column = said.subject.value_or("");
    for (const simdjson::dom::element each : ids) {
        std::string_view id;
        if (each.get(id) == simdjson::SUCCESS) {
            rows.ids.emplace(id);
        }
    }
}

bool own_rows::has(std::size_t table, outbox::table_mapper& mapper, const row_insert& row) const {
    const auto of_table = tables_.find(table);
    if (all_ || of_table == tables_.end()) {
        return all_;
    }
    if (of_table->second.id_column != mapper.id_column_of(row)) {
        return true;
    }
    const auto id = mapper.id_of(row);
    return id && of_table->second.ids.contains(*id);
}

}  // namespace walrelay::relay
