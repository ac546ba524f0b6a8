// The rows that are missing, as `walrelay resume` names them and keeps them on record.
#pragma once

#include "config/settings.hpp"
#include "core/error.hpp"
#include "core/instant.hpp"
#include "postgres/tables/dead_letter_store.hpp"
#include "servers/run_to_end.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace walrelay::app {

struct missing_row {
    /// As to_string(table_name) writes it.
    std::string table;
    /// To be shown; empty where it has none.
    std::string id;
    /// The same as the message would have it.
    std::string message_id = {};
    /// So many of the table, where they have none.
    std::uint64_t count = 1;
};

struct missing_list {
    /// What was in the tables before the slot is not known, so that nothing was compared.
    bool start_unknown = false;
    std::uint64_t count = 0;
    /// As many as were asked for.
    std::vector<missing_row> rows = {};
    /// Rows that are not counted: they can have been in one of the messages that are gone from the
    /// stream's beginning.
    std::uint64_t removed_rows = 0;
    std::uint64_t removed_messages = 0;
    /// And from between others, where newer ones of their subjects replace messages.
    std::uint64_t replaced_messages = 0;
};

/// Which rows are compared, and how many of the missing ones are named.
enum class missing_scope {
    /// Some are named. `start_unknown` where it is not known what was there before the slot.
    since_slot,
    /// All are named. What was there before the slot is left out where that is known.
    all,
};

/// Compares the tables with the stream, as `walrelay verify` does. Rows that the slot still brings
/// are not missing, nor those that can have been in messages which the stream's limits have
/// removed: older than every row that it holds, or stored before all that it holds. Errors: of
/// either server; also where a slot that nobody holds cannot be read, so that its rows cannot be
/// told from missing ones.
[[nodiscard]] boost::asio::awaitable<result<missing_list>> look_for_missing(
    servers::executors on, const config::settings& settings, missing_scope scope);

/// One for each row, without a message id where it has none; `at` stands for when they were
/// committed, which is not known.
[[nodiscard]] std::vector<postgres::row_left_out> rows_of(const missing_list& missing,
                                                          const config::settings& settings,
                                                          wall_time at);

/// For an error: the same in one line, with the first five.
[[nodiscard]] std::string short_text_of(const missing_list& missing);
/// How many rows are not counted, and why; empty where there are none.
[[nodiscard]] std::string text_of_removed(const missing_list& missing);
/// "2 rows are missing ..." and a line for each of the first 20.
[[nodiscard]] std::string text_of(const missing_list& missing);
/// {"count": ..., "named": [{"table": ..., "id": ...}], "removed": ...}, with the first 20.
[[nodiscard]] std::string json_of(const missing_list& missing);

}  // namespace walrelay::app
