// What a relay's decisions rest on and somebody else can change while it runs: the publication, and
// which tables stand behind the names of the configuration. Plain data; what a change of it means
// is told by relay/machine/watched_change. With it comes what the slot takes, as it is asked for in
// the same statement.
#pragma once

#include "core/outbox_table.hpp"
#include "core/usage.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace walrelay {

struct watched_publication {
    std::uint32_t oid = 0;  // 0 if there is none of the name
    /// Another one after each ALTER PUBLICATION that changes its own row, also one that is undone.
    std::string version = {};
    bool inserts = false;
    bool updates = false;
    bool via_root = false;
    /// What else its own row says, none of which a relay depends on.
    std::string others = {};
};

struct watched_table {
    std::uint32_t oid = 0;  // 0 if there is none of the name
    std::string kind = {};  // pg_class.relkind
    /// It, or a partition of it.
    bool unlogged = false;
    /// The publication holds all that has its rows.
    bool published = false;
    /// The publication has a row filter for it, or for a partition of it.
    bool filtered = false;
    /// Of its own entry in the publication's list of tables; 0 where it is published otherwise.
    std::uint32_t entry = 0;
    /// The transaction that made the table made this entry: there was no row that the publication
    /// did not send.
    bool born_published = false;
    /// The columns that this entry names; empty where it names none.
    std::string column_list = {};
    std::uint32_t owner = 0;
    /// Who owns the table's schema, and who may do what there.
    std::string schema_rights = {};
    /// Who is not trusted and may have code run where its rows are changed, and which code does.
    std::string code = {};
    /// Partitions and tables that inherit, at any depth.
    std::string members = {};
    /// Names with types.
    std::string columns = {};
    /// What the role may do with it, and whether row-level security applies.
    std::string rights = {};
    /// The name that the table has now which was behind the configured one when it was asked about;
    /// nothing where that table is gone.
    std::optional<table_name> now_called = {};
};

struct watched_facts {
    /// server_version_num.
    int version_number = 0;
    watched_publication publication = {};
    /// The role of postgres.writer, empty where there is none, and writer_facts::powers of it.
    std::string writer = {};
    std::string writer_powers = {};
    /// Those of the configuration that are tables, in its order.
    std::vector<watched_table> tables = {};
    /// For people and alerts; nothing where there is no such slot.
    std::optional<slot_usage> slot = {};
    /// The same in two answers of one server: nothing was committed, made, configured or reserved
    /// there between them. Empty where the server cannot tell: a standby.
    std::string change_sign = {};
};

}  // namespace walrelay
