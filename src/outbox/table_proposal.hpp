// What an [[outbox]] entry for a table could say, from the columns that the table has.
#pragma once

#include "core/change.hpp"
#include "core/column_role.hpp"
#include "core/outbox_table.hpp"
#include "outbox/type_kind.hpp"

#include <string>
#include <utility>
#include <vector>

namespace walrelay::outbox {

struct table_proposal {
    /// The columns that play a role without being named, as resolved_columns finds them.
    std::vector<std::pair<column_role, std::string>> roles = {};
    /// A template whose columns are all there.
    std::string subject = {};
    /// The column that seems to say whether a row is sent; empty if none does. The values that a
    /// service writes into it are not known.
    std::string status_column = {};
    std::string pending = {};
    std::string on_published = {};
    /// The value that says that a row is to be sent; empty where none does, as with a time.
    std::string republish_value = {};
};

[[nodiscard]] table_proposal propose(const table_name& table, const std::vector<column>& columns,
                                     const domain_types& domains);

}  // namespace walrelay::outbox
