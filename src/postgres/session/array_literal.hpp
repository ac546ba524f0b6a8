// Arrays as query parameters. Only for the .cpp files of this folder.
#pragma once

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

}  // namespace walrelay::postgres
