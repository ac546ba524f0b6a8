// Which column of a table plays which role and stands for which name, as indexes: worked out once
// for a description of the table, so that no row is read by name.
#pragma once

#include "core/change.hpp"
#include "core/column_role.hpp"
#include "outbox/table_plan.hpp"
#include "outbox/text_template.hpp"
#include "outbox/type_kind.hpp"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::outbox {

struct used_column {
    std::uint32_t index = 0;
    type_kind kind = type_kind::text;

    friend bool operator==(const used_column&, const used_column&) = default;
};

struct resolved_columns {
    std::array<std::optional<used_column>, role_count> roles;
    column_indexes subject;
    column_indexes message_id;
    std::vector<column_indexes> headers;
    std::optional<used_column> traceparent;
    std::optional<used_column> tracestate;
    /// Those of the table that are bytea, or a domain over it.
    std::vector<std::uint32_t> byteas;
    /// Every column of the message id is there.
    bool has_message_id = false;
    /// Why the table cannot be relayed as configured, one sentence each. If there are any, the
    /// indexes must not be used, apart from those of a message id that is there.
    std::vector<std::string> problems;

    [[nodiscard]] const std::optional<used_column>& playing(column_role role) const {
        return roles[static_cast<std::size_t>(role)];
    }
};

[[nodiscard]] resolved_columns resolve(const table_plan& plan, const std::vector<column>& columns,
                                       const domain_types& domains, const made_types& made = {});

}  // namespace walrelay::outbox
