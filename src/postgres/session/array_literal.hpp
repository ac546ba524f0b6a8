// Arrays as query parameters. Only for the .cpp files of this folder.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace walrelay::postgres {

/// PostgreSQL's text form of an array of text: every element quoted.
[[nodiscard]] inline std::string array_literal(const std::vector<std::string>& elements) {
    std::string out = "{";
    for (const auto& element : elements) {
        out += out.size() > 1 ? ",\"" : "\"";
        for (const char c : element) {
            if (c == '"' || c == '\\') {
                out += '\\';
            }
            out += c;
        }
        out += '"';
    }
    return out + "}";
}

struct table_arrays {
    std::string schemas;
    std::string names;
};

/// Of the tables that `table_of` finds in the elements.
template <class Elements, class Table = std::identity>
[[nodiscard]] table_arrays arrays_of(const Elements& elements, Table table_of = {}) {
    std::vector<std::string> schemas;
    std::vector<std::string> names;
    for (const auto& each : elements) {
        schemas.push_back(std::invoke(table_of, each).schema);
        names.push_back(std::invoke(table_of, each).name);
    }
    return {array_literal(schemas), array_literal(names)};
}

}  // namespace walrelay::postgres
