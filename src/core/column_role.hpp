// The roles that columns of an outbox table play, whatever the columns are called.
#pragma once

#include "core/outbox_table.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace walrelay {

enum class column_role : std::uint8_t {
    id,
    aggregate_type,
    aggregate_id,
    event_type,
    payload,
    metadata,
    version,
    created_at,
};

inline constexpr std::size_t role_count = 8;

inline constexpr std::array<column_role, role_count> all_roles = {
    column_role::id,         column_role::aggregate_type, column_role::aggregate_id,
    column_role::event_type, column_role::payload,        column_role::metadata,
    column_role::version,    column_role::created_at,
};

/// The name of the role in the configuration and in templates.
[[nodiscard]] std::string_view to_string(column_role role);

[[nodiscard]] std::optional<column_role> role_named(std::string_view name);

/// The column that the configuration gives the role, or nothing where it leaves that to the
/// default names.
[[nodiscard]] const std::optional<std::string>& configured_column(const outbox_columns& columns,
                                                                  column_role role);
[[nodiscard]] std::optional<std::string>& configured_column(outbox_columns& columns,
                                                            column_role role);

}  // namespace walrelay
