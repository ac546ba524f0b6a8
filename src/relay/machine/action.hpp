// What the relay machine wants done. Small values: the driver obeys them and decides nothing.
#pragma once

#include "core/error.hpp"
#include "core/log_entry.hpp"
#include "core/outbox_table.hpp"
#include "core/witness.hpp"
#include "relay/confirm/write_backs.hpp"
#include "relay/intake/dead_letters.hpp"
#include "relay/lane/lane.hpp"
#include "relay/lane/stored_rows.hpp"
#include "relay/machine/roll_call.hpp"
#include "relay/machine/stream_owner.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace walrelay::relay {

/// Connect, look at the stream, and report broker_connected or broker_failed with this epoch.
struct connect_broker {
    std::uint64_t epoch = 0;
    /// How many of the stream's last messages to look at; 0 for the last one.
    std::uint64_t look_back = 0;
    /// First ask the stream's leader to hand over to another server.
    bool step_down = false;
    /// Also read the message of this sequence; 0 for none.
    std::uint64_t asks_for = 0;
};
struct close_broker {};

/// Connect, check, start streaming, and report postgres_connected or postgres_failed.
struct connect_postgres {
    std::uint64_t epoch = 0;
    /// The slot is there, but lacks events that the stream lacks: they are read from the tables.
    bool gap = false;
};
/// The rows that were there before the slot are in the stream: make the slot a lasting one, and
/// report slot_adopted or postgres_failed with this epoch.
struct adopt_slot {
    std::uint64_t epoch = 0;
};
/// At once, silently to the server.
struct close_postgres {};
/// End the stream in good order, then report postgres_finished.
struct finish_postgres {};

/// Hand one message to the broker. The content lives at least until the next event.
struct publish {
    outgoing what;
};
/// Send one CopyData message to PostgreSQL.
struct send_status {
    std::string bytes;
};
/// Commit the dead letters in the database, then report dead_letters_stored or dead_letters_failed
/// with this epoch of the PostgreSQL connection.
struct store_dead_letters {
    std::uint64_t epoch = 0;
    std::shared_ptr<const dead_letters> letters;
};
/// Ask the stream what it ends with, and report stream_answered with the epoch of the connection.
struct ask_stream {};
/// Read the message of this sequence, and report message_read with this epoch of the connection.
struct read_message {
    std::uint64_t epoch = 0;
    std::uint64_t sequence = 0;
};
/// Commit the witness where the row still has `what.version`, and report witness_stored with this
/// epoch of the PostgreSQL connection.
struct store_witness {
    std::uint64_t epoch = 0;
    witness what;
};
/// Write the mark into the stream's description, and report stream_marked.
struct mark_stream {
    stream_owner owner;
    /// What it is to become: for the words to an operator who has to write it.
    stream_owner to_be;
};
/// Read what the stream has of the rows that the slot sends, and report stored_read with this epoch
/// of the PostgreSQL connection.
struct read_stored {
    std::uint64_t epoch = 0;
    stored_rows_request wanted;
};
/// Find out which of these rows are neither in the stream nor in the dead letters, and report
/// rows_looked_for with this epoch of the PostgreSQL connection.
struct look_for_rows {
    std::uint64_t epoch = 0;
    std::vector<roll_row> rows;
};
/// Keep these rows as dead letters that were dropped, and report rows_left_out.
struct leave_out {
    std::vector<roll_row> rows;
};
/// Write the rows back as the configuration says of their table, and report written_back or
/// write_back_failed with this epoch of the PostgreSQL connection.
struct write_back {
    std::uint64_t epoch = 0;
    write_back_batch batch;
};
/// A write gets no answer: find out what keeps it waiting, and report blocker_found with this epoch
/// of the PostgreSQL connection.
enum class waiting_write { statuses, letters };
struct find_blocker {
    std::uint64_t epoch = 0;
    waiting_write what = waiting_write::statuses;
};
/// Read the row of this id from its table as it is now, and report row_fetched or row_not_fetched
/// with this epoch of the PostgreSQL connection.
struct fetch_row {
    std::uint64_t epoch = 0;
    std::size_t table = 0;  // of the configuration
    std::string key;
    /// Of the transaction that has changed it, which must be seen first.
    std::optional<transaction_id> xid = {};
};
/// Ask PostgreSQL what this table is, and report table_looked_at with this epoch of the PostgreSQL
/// connection.
struct look_at_table {
    std::uint64_t epoch = 0;
    table_name table;
};
/// Ask the standby how far it has replayed, and then for its timeline, in this order; report
/// `replayed` with this epoch of the PostgreSQL connection.
struct ask_replayed {
    std::uint64_t epoch = 0;
};
/// Keep in the database why no relay of this slot may go on, within a few seconds and over a
/// connection of its own, and report halt_stored, also where that was not possible.
struct store_halt {
    std::string reason;
    /// What an operator can do about it.
    std::string fix;
};
struct write_log {
    log_entry line;
};
/// The relay is at its end; the program exits with this code.
struct finish {
    int exit_code = 0;
    /// Why an operator is needed, where one is.
    std::optional<error> why = {};
};

using action = std::variant<connect_broker, close_broker, connect_postgres, close_postgres,
                            finish_postgres, adopt_slot, publish, send_status, store_dead_letters,
                            ask_stream, read_message, store_witness, mark_stream, read_stored,
                            look_for_rows, leave_out, write_back, find_blocker, fetch_row,
                            look_at_table, ask_replayed, store_halt, write_log, finish>;

}  // namespace walrelay::relay
