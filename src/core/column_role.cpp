#include "core/column_role.hpp"

#include <algorithm>

namespace walrelay {
namespace {

struct role_entry {
    std::string_view name;
    std::optional<std::string> outbox_columns::*column;
};

/// In the order of the enumeration.
constexpr std::array<role_entry, role_count> entries = {{
    {"id", &outbox_columns::id},
    {"aggregate_type", &outbox_columns::aggregate_type},
    {"aggregate_id", &outbox_columns::aggregate_id},
    {"event_type", &outbox_columns::event_type},
    {"payload", &outbox_columns::payload},
    {"metadata", &outbox_columns::metadata},
    {"version", &outbox_columns::version},
    {"created_at", &outbox_columns::created_at},
}};

const role_entry& entry_of(column_role role) {
    return entries[static_cast<std::size_t>(role)];
}

}  // namespace

std::string_view to_string(column_role role) {
    return entry_of(role).name;
}

std::optional<column_role> role_named(std::string_view name) {
    const auto found = std::find_if(all_roles.begin(), all_roles.end(), [name](column_role role) {
        return entry_of(role).name == name;
    });
    return found == all_roles.end() ? std::nullopt : std::optional(*found);
}

const std::optional<std::string>& configured_column(const outbox_columns& columns,
                                                    column_role role) {
    return columns.*entry_of(role).column;
}

std::optional<std::string>& configured_column(outbox_columns& columns, column_role role) {
    return columns.*entry_of(role).column;
}

}  // namespace walrelay
