// The tables of the schema walrelay, in the database of the outbox: what each is for, how it is
// made where it is missing, and what a role needs of it.
//
// Through a connection of connection_kind::sql. A statement on one of them runs what its owner and
// its triggers say with walrelay's rights, so a schema that somebody else made is not used.
#pragma once

#include "core/error.hpp"
#include "core/facts.hpp"
#include "postgres/session/connection.hpp"
#include "postgres/session/server_error.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace walrelay::postgres {

enum class own_table {
    /// sql/dead_letter.sql: rows that cannot be delivered.
    dead_letter,
    /// sql/halt.sql: slots at which no relay goes on.
    halt,
    /// sql/partition.sql: partitions that were there.
    partition,
    /// sql/control.sql: what is said to relays through the WAL.
    control,
    /// sql/slot_start.sql: what was there before each slot.
    slot_start,
    /// sql/bookmark.sql: slots that are kept for a replay.
    bookmark,
    /// sql/trail.sql: where the relay's slot stood at which time.
    trail,
    /// sql/replay.sql: what replays were asked for, and how far each has come.
    replay,
    /// sql/witness.sql: what was stored of each slot's rows.
    witness,
};

/// With its schema: walrelay.dead_letter.
[[nodiscard]] std::string to_string(own_table table);

/// The text of its file in sql/: one statement and comments.
[[nodiscard]] std::string_view create_table_sql(own_table table);

/// What a role needs that relays and looks after it.
[[nodiscard]] std::string grants_sql(own_table table, std::string_view role);

/// Whether anything of that name is there; not where the schema is somebody else's.
[[nodiscard]] boost::asio::awaitable<result<bool>> has_table(connection& sql, own_table table);

/// What this role finds of the tables.
struct own_table_states {
    own_table_facts dead_letters;
    own_table_facts halts;
    own_table_facts controls;
    own_table_facts bookmarks;
    own_table_facts trails;
    own_table_facts witnesses;
    own_table_facts slot_starts;
    own_table_facts replays;
    own_table_facts partitions;
    bool may_make = false;
};
[[nodiscard]] boost::asio::awaitable<result<own_table_states>> states_of_own_tables(
    connection& sql);

/// Makes schema and table where they are missing. errc::postgres_unsuitable if the role may not, or
/// if what exists then is not to be trusted: see own_schema_flaws, also for `outboxes`.
[[nodiscard]] boost::asio::awaitable<result<void>> create_table(connection& sql, own_table table,
                                                                std::vector<table_name> outboxes);

/// Whether the server says that a table, or the schema, is not there.
[[nodiscard]] bool is_missing(const server_report& report);

/// What a refused statement on the table means, with the grants where a right is missing.
[[nodiscard]] error explain_use(const server_report& report, const connection& sql,
                                own_table table);

/// What lets another role act in walrelay's place or see its statements run: schema or tables of an
/// owner that is not to be trusted, triggers, rules, policies, something else than a table, rights
/// of everybody. To be trusted are superusers, the connection's role, the owner of the database and
/// those of the `outboxes`. None where the schema is not there. Of a schema that is somebody else's
/// nothing more is told, and the connection keeps away from it (connection::avoid_own_schema).
[[nodiscard]] boost::asio::awaitable<result<std::vector<schema_flaw>>> own_schema_flaws(
    connection& sql, std::vector<table_name> outboxes);

/// To be called in a session before its first statement on one of the tables: the first flaw as
/// errc::postgres_unsuitable. A schema that is somebody else's is no error: its tables are then as
/// good as missing.
[[nodiscard]] boost::asio::awaitable<result<void>> check_own_schema(
    connection& sql, std::vector<table_name> outboxes);

/// What proves rows of walrelay.control (sql/control.sql); empty where the role may not read it, or
/// it is not there, or belongs to who is not trusted.
[[nodiscard]] boost::asio::awaitable<result<std::string>> read_control_secret(
    connection& sql, std::vector<table_name> outboxes);

/// Whether what the server says is of this table.
[[nodiscard]] bool is_about(const server_report& report, own_table table);

}  // namespace walrelay::postgres
