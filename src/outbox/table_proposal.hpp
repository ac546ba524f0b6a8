// What an [[outbox]] entry for a table could say, from the columns that the table has.
//
// Libraries name the same things in many ways, and in each language with another case. What is
// found here is written into a file that its reader checks; a relay goes by the file alone.
#pragma once

#include "core/change.hpp"
#include "core/column_hint.hpp"
#include "core/column_role.hpp"
#include "core/outbox_table.hpp"
#include "outbox/type_kind.hpp"

#include <string>
#include <utility>
#include <vector>

namespace walrelay::outbox {

struct table_proposal {
    /// The columns that seem to play a role. An empty name: the column that walrelay would take by
    /// its name does not play it.
    std::vector<std::pair<column_role, std::string>> roles = {};
    /// A template whose columns are all there.
    std::string subject = {};
    body_format body = body_format::event;
    /// Columns of the subject that can be NULL; the template has a text in place of it.
    std::vector<std::string> nullable = {};
    /// The column that seems to say whether a row is sent; empty if none does.
    std::string status_column = {};
    /// SQL, from here on. Empty where the values that a service writes are not known.
    std::string pending = {};
    std::string on_published = {};
    /// The value that says that a row is to be sent; empty where none does, as with a time.
    std::string republish_value = {};
    /// NULL says so.
    bool republishes_null = false;
    /// The values come from the table's default, CHECK or enumeration, not from a guess.
    bool knows_values = false;

    [[nodiscard]] const std::string* column_of(column_role role) const;
};

struct proposal_input {
    table_name table = {};
    std::vector<column> columns = {};
    domain_types domains = {};
    /// None where they are not known.
    std::vector<column_hint> hints = {};
    /// What is configured already.
    outbox_columns configured = {};
};

[[nodiscard]] table_proposal propose(const proposal_input& from);

/// Whether the table could be an outbox: its name or its columns say so, and what is proposed for
/// it has an id and a payload.
[[nodiscard]] bool looks_like_outbox(const table_name& table, const table_proposal& proposed);

}  // namespace walrelay::outbox
