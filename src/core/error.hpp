// What can go wrong, in words and in consequences.
//
// An `error` is a value: a code of our own category, what happened to which thing, what a server
// said about it, and the command that fixes it. Every code can be asked what is to be done now.
#pragma once

#include <boost/assert/source_location.hpp>
#include <boost/system/result.hpp>

#include <string>
#include <string_view>
#include <system_error>

namespace walrelay {

enum class errc {
    /// The bytes of a frame end before the field that was to be read.
    frame_truncated = 1,
    /// A field of a frame holds a value that the protocol does not allow.
    frame_malformed,
    /// The server sent something that walrelay did not ask for (a streamed transaction, say).
    frame_unexpected,
    /// A row of a table that the catalog of this connection does not know.
    table_unknown,
    /// A row cannot be made into a message as the configuration asks.
    row_unmappable,
    /// A message exceeds what the broker or the stream takes.
    message_too_large,
    /// The configuration, a flag or an environment variable cannot be used.
    configuration_invalid,
    /// A temporary file of walrelay's own cannot be written or read.
    temporary_file,
    /// A file that the configuration names (a secret, a key) is missing, open to others, or holds
    /// something else. One that is being replaced can be so for a moment.
    file_unusable,
    /// PostgreSQL cannot be reached at the moment.
    postgres_unavailable,
    /// PostgreSQL does not let the role in: an expired password, a missing right, another name of
    /// the database. A relay that it let in before waits until it does again.
    postgres_refused,
    /// The replication connection ended.
    postgres_lost,
    /// PostgreSQL is set up in a way that forbids relaying.
    postgres_unsuitable,
    /// The stream's last message belongs to no row that the slot sends: the stream and the database
    /// do not have the same history.
    tail_not_met,
    /// Another consumer holds the slot.
    slot_in_use,
    /// The server still holds the slot for an earlier connection of this process.
    slot_not_released,
    /// The broker cannot be reached at the moment.
    broker_unavailable,
    /// The connection to the broker ended or can no longer be trusted.
    broker_lost,
    /// The broker or its stream is set up in a way that forbids relaying.
    broker_unsuitable,
    /// The broker refused a message for what the message is.
    message_refused,
    /// Neither slot nor stream has some rows any more, and the next start would go on past them
    /// without a word: the one kind of halt that must be remembered.
    gap_found,
    /// A relay of this slot has found a gap before, and nobody has resumed it since.
    halted,
    /// No slot reaches back to what is to be replayed.
    position_not_kept,
};

/// What is to be done about an error.
enum class advice {
    /// Wait and try the same again, for ever.
    retry,
    /// Start over with a new connection.
    reconnect,
    /// Only this message is affected.
    this_message,
    /// An operator must change the configuration of walrelay or of a server.
    this_configuration,
};

[[nodiscard]] const std::error_category& walrelay_category() noexcept;
[[nodiscard]] std::error_code make_error_code(errc code) noexcept;
[[nodiscard]] advice advice_for(errc code) noexcept;
/// The name of the code, `broker_lost` for one: for fields of the log and JSON. Lasts for ever.
[[nodiscard]] std::string_view to_string(errc code) noexcept;

struct error {
    errc code;
    /// What happened, and to which table, slot, stream, row or LSN. One sentence without full stop.
    std::string what;
    /// The command or the change that fixes it; empty where waiting is the answer.
    std::string remedy = {};
    /// The words of a server, apart from ours: they may quote data of the user.
    std::string server_said = {};
};

/// One line for a log or a terminal: what, the server's words, the remedy.
[[nodiscard]] std::string to_string(const error& failure);

template <class Value>
using result = boost::system::result<Value, error>;

/// Called by boost::system::result when a value is asked for that is not there.
[[noreturn]] void throw_exception_from_error(const error& failure,
                                             const boost::source_location& where);

}  // namespace walrelay

template <>
struct std::is_error_code_enum<walrelay::errc> : std::true_type {};
