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
    /// Made for this halt.
    std::optional<halt_decision> decision = {};
    /// In the form of halted_at; set with `decision`.
    std::string decided_at = {};
    /// Tells it from every other halt of the slot, for the functions below.
    std::string which = {};
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

/// Lets the next relay of the slot go on past the halt `which` in this way. To heal is kept for
/// whichever halt is there, and for `reason` where there is none. Adds the columns of a decision
/// where the table is of 0.2.0. Returns whether it was kept: not where that halt is not there (any
/// more).
[[nodiscard]] boost::asio::awaitable<result<bool>> decide_halt(connection& sql, std::string slot,
                                                               std::string which,
                                                               halt_decision decision,
                                                               std::string reason,
                                                               std::vector<table_name> outboxes);

/// No row is missing: the halt `which`, where an operator has resumed it without having looked,
/// counts as `looked`. Nothing is changed where the slot was halted again, or something else
/// decided, since.
[[nodiscard]] boost::asio::awaitable<result<void>> note_comparison(connection& sql,
                                                                   std::string slot,
                                                                   std::string which);

/// Removes the halt `which`, or, where that is empty, whichever is there. Returns whether it was
/// there.
[[nodiscard]] boost::asio::awaitable<result<bool>> forget_halt(connection& sql, std::string slot,
                                                               std::string which);

}  // namespace walrelay::postgres
