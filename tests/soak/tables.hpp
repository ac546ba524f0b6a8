// The three outbox tables of a soak, and how the relay is configured for them.
#pragma once

#include "chaos/arena.hpp"
#include "soak/pace.hpp"

#include <cstdint>
#include <filesystem>
#include <string>

namespace walrelay::soak {

/// public.outbox_events has on_published and on_dead_letter, public.outbox_tasks is deleted from at
/// once and publishes rows again, public.outbox_parts is partitioned by the time of the INSERT.
enum class outbox { events, tasks, parts };

/// Without its schema.
[[nodiscard]] std::string name_of(outbox table);

/// The broker takes no larger messages.
inline constexpr std::uint64_t largest_message_bytes = 65536;

struct row_text {
    std::uint64_t number = 0;
    /// Larger than the broker takes.
    bool too_large = false;
    /// It becomes a dead letter, for whatever reason: the witness finds it by this.
    bool poison = false;
};

/// One INSERT.
[[nodiscard]] std::string insert_row(outbox table, const row_text& row);

/// Makes the partitions of now and of the next minutes that are not there yet.
[[nodiscard]] std::string make_partitions(std::chrono::seconds width);

[[nodiscard]] chaos::arena_options arena_for(const std::filesystem::path& relay_program,
                                             const std::string& plugin);
/// Everything beside the first table: the other outboxes, and what the disturbances work on.
void make_tables(chaos::arena& where, const pace& how);

}  // namespace walrelay::soak
