// The table of keys, put together from its sections.
#include "config/keys.hpp"

#include "config/sections.hpp"

#include <algorithm>

namespace walrelay::config {
namespace {

std::vector<key> all_keys() {
    std::vector<key> all;
    for (auto section :
         {postgres_keys, nats_keys, delivery_keys, outbox_keys, http_keys, log_keys}) {
        for (key& row : section()) {
            all.push_back(std::move(row));
        }
    }
    return all;
}

char as_in_a_variable(char c) {
    if (c == '.') {
        return '_';
    }
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

}  // namespace

std::string_view to_string(value_kind kind) {
    switch (kind) {
        case value_kind::text:
            return "string";
        case value_kind::text_list:
            return "list of strings";
        case value_kind::boolean:
            return "boolean";
        case value_kind::integer:
            return "integer";
        case value_kind::duration:
            return "duration";
        case value_kind::size:
            return "byte size";
        case value_kind::choice:
            return "choice";
        case value_kind::table:
            return "table of strings";
    }
    return "";
}

std::string key::full_name() const {
    return std::string(about.section) + '.' + std::string(about.name);
}

std::string key::variable() const {
    std::string name = "WALRELAY_" + full_name();
    std::transform(name.begin(), name.end(), name.begin(), as_in_a_variable);
    return name;
}

const std::vector<key>& keys() {
    static const std::vector<key> table = all_keys();
    return table;
}

const key* find_key(std::string_view full_name) {
    const auto& table = keys();
    const auto found = std::find_if(table.begin(), table.end(),
                                    [&](const key& row) { return row.full_name() == full_name; });
    return found == table.end() ? nullptr : &*found;
}

}  // namespace walrelay::config
