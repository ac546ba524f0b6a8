#include "relay/intake/own_rows.hpp"

#include <simdjson.h>

#include <string_view>
#include <utility>

namespace walrelay::relay {

void own_rows::mark(const control_row& said) {
    simdjson::dom::parser parser;
    simdjson::dom::array ids;
    if (!said.event ||
        parser.parse(said.event->data(), said.event->size()).get(ids) != simdjson::SUCCESS) {
        all_ = true;
        return;
    }
    for (const simdjson::dom::element each : ids) {
        std::string_view id;
        if (each.get(id) == simdjson::SUCCESS) {
            ids_.emplace(id);
        }
    }
}

bool own_rows::has(const field& id) const {
    return all_ || (id && ids_.contains(*id));
}

}  // namespace walrelay::relay
