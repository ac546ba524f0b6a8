// What walrelay has made in the database for one slot, or may have, and how it is taken away again.
// Judges nothing; all through a connection of connection_kind::sql whose schema walrelay can be
// trusted (own_tables.hpp).
#pragma once

#include "core/error.hpp"
#include "core/outbox_table.hpp"
#include "postgres/session/connection.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::postgres {

struct removable_slot {
    std::string name = {};
    std::string plugin = {};    // empty for a physical slot
    std::string database = {};  // empty for a physical slot
    bool active = false;
    std::int32_t active_pid = 0;
    /// A standby's copy of the primary's slot.
    bool synced = false;
    /// WAL that PostgreSQL keeps for it.
    std::uint64_t held_bytes = 0;
};

struct removable_publication {
    std::string owner = {};
    bool owned = false;  // the role may drop it
    bool for_all_tables = false;
    std::vector<table_name> tables = {};
    /// Those of which it has all tables, also later ones: from PostgreSQL 15 on.
    std::vector<std::string> schemas = {};
};

/// A table of the schema walrelay.
struct removable_table {
    std::string name = {};
    bool is_known = false;  // walrelay makes one of that name
    bool may_delete = false;
    std::uint64_t rows = 0;
    /// Nothing where its rows do not name slots.
    std::optional<std::uint64_t> rows_of_slot = {};
    /// Other slots that it names.
    std::vector<std::string> other_slots = {};
};

struct removable_schema {
    std::string owner = {};
    bool owned = false;                     // and so are all its tables
    std::vector<std::string> strange = {};  // what walrelay does not make there
    std::vector<removable_table> tables = {};
};

struct removal_facts {
    std::string database = {};
    std::string role = {};
    /// That of the configuration; nothing if there is none.
    std::optional<removable_slot> slot = {};
    /// Whose names begin with the slot's, and the other logical ones of this database.
    std::vector<removable_slot> others = {};
    std::optional<removable_publication> publication = {};
    std::optional<removable_schema> schema = {};
};

[[nodiscard]] boost::asio::awaitable<result<removal_facts>> look_at_removal(
    connection& sql, std::string slot, std::string publication);

/// Errors: postgres_unsuitable where the role may not.
[[nodiscard]] boost::asio::awaitable<result<void>> drop_publication(connection& sql,
                                                                    std::string publication);
/// The rows that these tables of the schema walrelay have of the slot.
[[nodiscard]] boost::asio::awaitable<result<void>> forget_slot(connection& sql, std::string slot,
                                                               std::vector<std::string> tables);
/// These tables and the schema, which must then be empty.
[[nodiscard]] boost::asio::awaitable<result<void>> drop_own_schema(connection& sql,
                                                                   std::vector<std::string> tables);

}  // namespace walrelay::postgres
