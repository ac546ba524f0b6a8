// The rules by which a table's message ids are read, recalled from where they are kept: the
// stream's mark, and the note of the durable consumer that cleans the table. Both the clean-up of
// rows and that of partitions go by them.
#pragma once

#include "audit/provenance.hpp"
#include "config/settings.hpp"
#include "core/error.hpp"
#include "nats/requests/cleanup_cursor.hpp"
#include "tasks/cleanup/row_rules.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace walrelay::tasks {

/// Of the consumer that keeps the note of this table.
[[nodiscard]] std::string cleanup_consumer_of(const config::settings& settings, std::size_t table);

/// Which table it is, and what the relay knows.
struct rules_question {
    std::size_t table = 0;  // its number in the settings
    std::uint32_t oid = 0;
    audit::known_history known = {};
};

/// Of today, with the `since` that is known now. `kept` as of rules_after. Errors:
/// broker_unavailable and postgres_lost while one of the servers has not told enough.
[[nodiscard]] result<row_rules> rules_of_today(const config::settings& settings,
                                               const rules_question& of,
                                               const std::optional<std::string>& kept);

/// The same, kept with the consumer, which is open. Blocks. Errors: those of the cursor as well.
[[nodiscard]] result<row_rules> recall_rules(nats::cleanup_cursor& cursor,
                                             const config::settings& settings,
                                             const rules_question& of);

}  // namespace walrelay::tasks
