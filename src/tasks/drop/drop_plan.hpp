// What `walrelay drop` takes away, and what it leaves: slot, kept positions and publication, and
// where that is asked for stream and schema. Pure: decides from what was looked at.
//
// Only what walrelay has made is dropped. Whatever else is in the way of an empty database, or
// keeps WAL, is named with the statement that drops it, for whoever owns it.
#pragma once

#include "core/error.hpp"
#include "core/facts.hpp"
#include "core/kept_position.hpp"
#include "core/outbox_table.hpp"
#include "postgres/catalog/removal.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::tasks {

enum class drop_kind { slot, kept_position, publication, stream, records, schema };
[[nodiscard]] const char* to_string(drop_kind kind);

enum class drop_fate {
    /// walrelay made it, or was told that it is its own.
    drop,
    /// Not asked for: the stream and the schema hold messages and records.
    keep,
    /// Somebody else's, or not this role's to drop.
    leave,
};
[[nodiscard]] const char* to_string(drop_fate fate);

struct drop_item {
    drop_kind kind = drop_kind::slot;
    drop_fate fate = drop_fate::drop;
    /// Of the object: the slot's, the publication's, ...
    std::string name = {};
    /// What it is, and why it stays where it does.
    std::string about = {};
    /// What drops it where walrelay does not.
    std::string remedy = {};
    std::uint64_t held_bytes = 0;
    /// It was asked for, or keeps WAL, and stays.
    bool is_trouble = false;
    /// Of a schema or of records: what there is to drop or to empty.
    std::vector<std::string> tables = {};
};

struct drop_wish {
    std::string slot = {};
    std::string publication = {};
    /// The configured tables; none where the configuration names none.
    std::vector<table_name> outboxes = {};
    std::string stream = {};
    bool with_stream = false;
    bool with_schema = false;
};

struct drop_sight {
    postgres::removal_facts database = {};
    kept_positions kept = {};
    /// Nothing where there is none, or where it was not looked at.
    std::optional<stream_facts> stream = {};
    /// Of the PostgreSQL server; 0 is not known.
    std::uint64_t system_identifier = 0;
};

/// In the order in which it is to be done: the slot first, which fails where a relay has begun.
[[nodiscard]] std::vector<drop_item> plan_drop(const drop_wish& wanted, const drop_sight& seen);

/// Why nothing may be dropped now: errc::slot_in_use where a session uses one of the slots.
[[nodiscard]] std::optional<error> obstacle_to_drop(const drop_wish& wanted,
                                                    const drop_sight& seen);

}  // namespace walrelay::tasks
