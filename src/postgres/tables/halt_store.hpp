// Keeps why no relay of a slot may go on, in the table walrelay.halt of the outbox's database.
//
// Through a connection of connection_kind::sql. The table is that of sql/halt.sql; where it is
// missing nothing is halted.
#pragma once

#include "core/error.hpp"
#include "core/outbox_table.hpp"
#include "postgres/session/connection.hpp"

#include <boost/asio/awaitable.hpp>

#include <optional>
#include <string>
#include <vector>

namespace walrelay::postgres {

/// How an operator has taken back a halt.
enum class halt_decision {
    /// Its cause is said to be fixed, and nobody has looked: the next relay compares all rows with
    /// the stream before it goes on.
    look,
    /// Its cause is fixed, and no row that the tables have is missing: the next relay looks for the
    /// newest rows, as any start does.
    looked,
    /// The next relay publishes from the tables what the stream lacks, whatever its configuration
    /// says.
    heal,
    /// The next relay goes on without the rows that are missing.
    give_up,
};
/// As in the column: look, looked, heal, give_up.
[[nodiscard]] const char* to_string(halt_decision decision);

struct kept_halt {
    /// "2026-03-14 15:09:26 UTC".
    std::string halted_at;
    std::string reason;
    std::string fix;
    /// Made since it was halted.
    std::optional<halt_decision> decision = {};
    /// In the form of halted_at; set with `decision`.
    std::string decided_at = {};
};

/// Nothing where the slot is not halted. errc::postgres_unsuitable, with the SQL that fixes it, if
/// the role may not read the table or it is not an ordinary one; else what `connection::query`
/// gives. A table of 0.2.0 is read as well: who resumed there has looked at nothing, so that the
/// next relay looks.
[[nodiscard]] boost::asio::awaitable<result<std::optional<kept_halt>>> read_halt(connection& sql,
                                                                                 std::string slot);

/// Returns once it is committed and flushed; makes the table where it is missing (`outboxes` as in
/// own_tables.hpp). Takes the place of an earlier halt of the slot, also of one that was resumed.
[[nodiscard]] boost::asio::awaitable<result<void>> store_halt(connection& sql, std::string slot,
                                                              std::string reason, std::string fix,
                                                              std::vector<table_name> outboxes);

/// Lets the next relay of the slot go on, in this way. Where the slot is not halted a decision to
/// heal is kept all the same, for `reason`; no other is. Adds the columns of a decision where the
/// table is of 0.2.0. Returns whether it was kept.
[[nodiscard]] boost::asio::awaitable<result<bool>> decide_halt(connection& sql, std::string slot,
                                                               halt_decision decision,
                                                               std::string reason,
                                                               std::vector<table_name> outboxes);

/// No row is missing: what an operator has resumed without having looked counts as `looked`.
/// Nothing is changed where the slot was halted again, or something else decided, since.
[[nodiscard]] boost::asio::awaitable<result<void>> note_comparison(connection& sql,
                                                                   std::string slot);

/// Removes the halt, if there is one.
[[nodiscard]] boost::asio::awaitable<result<void>> forget_halt(connection& sql, std::string slot);

}  // namespace walrelay::postgres
