// Under which subject the messages of an aggregate are.
#pragma once

#include "core/outbox_table.hpp"

#include <string>

namespace walrelay::tasks {

/// With wildcards where the table's subject has more than the aggregate tells; empty where others
/// can have it, too.
[[nodiscard]] std::string subject_of_aggregate(const outbox_table& table, const std::string& type,
                                               const std::string& id);

}  // namespace walrelay::tasks
