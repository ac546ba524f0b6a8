// What the catalog says of a column besides its type: for proposals, never for decisions.
#pragma once

#include <string>
#include <vector>

namespace walrelay {

struct column_hint {
    std::string name = {};
    bool nullable = true;
    /// As PostgreSQL prints the expression, `'pending'::text`; empty where there is none.
    std::string default_value = {};
    /// The labels of its enumeration, in their order.
    std::vector<std::string> labels = {};
    /// Its CHECK constraints, and those of its domain, as PostgreSQL prints them.
    std::vector<std::string> checks = {};
};

}  // namespace walrelay
