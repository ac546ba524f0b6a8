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
    for (const simdjson::dom::element each : ids) {
        std::string_view id;
        if (each.get(id) == simdjson::SUCCESS) {
            ids_[*table].emplace(id);
        }
    }
}

bool own_rows::has(std::size_t table, const field& id) const {
    if (all_ || !id) {
        return all_;
    }
    const auto of_table = ids_.find(table);
    return of_table != ids_.end() && of_table->second.contains(*id);
}

}  // namespace walrelay::relay
