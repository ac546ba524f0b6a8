// What a server's error means for walrelay: (SQLSTATE, text, what was being done) -> error. Pure.
//
// Decides by SQLSTATE; texts are only looked at where one SQLSTATE stands for several things, and
// may be in any language. Source of the codes: PostgreSQL documentation, "PostgreSQL Error Codes".
#pragma once

#include "core/error.hpp"
#include "core/facts.hpp"

#include <string>
#include <string_view>

namespace walrelay::postgres {

/// An error as the server or libpq reported it.
struct server_report {
    /// Empty where the words are libpq's own: the connection broke, say.
    std::string sqlstate;
    std::string message;
    std::string detail = {};
    /// Where it happened, as the server says: which callback of an output plugin, at which LSN.
    std::string context = {};
    /// The function of the server that reports it.
    std::string function = {};
};

/// Whether its message has these words. To be asked only where the SQLSTATE leaves something open.
[[nodiscard]] inline bool mentions(const server_report& report, std::string_view words) {
    return report.message.find(words) != std::string::npos;
}

enum class server_action {
    connect_sql,
    connect_replication,
    query,
    create_publication,
    create_slot,
    start_streaming,
    stream
};

/// What the words of an error are about; what does not matter for an action stays empty.
struct server_context {
    server_action action = server_action::query;
    std::string role = {};
    std::string database = {};
    std::string slot = {};
    output_plugin plugin = output_plugin::pgoutput;
    std::string publication = {};
    /// server_version_num; 0 if it is not known.
    int version_number = 0;
    /// See start_options.
    int earlier_process = 0;
};

[[nodiscard]] error explain(const server_report& report, const server_context& context);
/// For who does not know of which service the server is.
[[nodiscard]] std::string how_to_let_replicate(const std::string& role);
/// The slot is still held for this relay's own last connection.
[[nodiscard]] error slot_not_released(const std::string& slot);

/// Of a query on `table`, as SQL has it, in a session with row_security = off. `columns` is what
/// the role needs of it, (a, b) for one; empty for all.
[[nodiscard]] error explain_read(const server_report& report, const std::string& role,
                                 const std::string& table, const std::string& columns = {});

/// Of what was not done, and will be tried again: with what keeps the server from it, where the
/// SQLSTATE tells, and what ends that.
[[nodiscard]] error with_state_behind(error failure, const server_report& report);

/// Whether a function has refused it: of a statement that makes something, that of an event
/// trigger.
[[nodiscard]] bool is_raised(const server_report& report);
/// What to do about it.
inline constexpr std::string_view how_past_event_triggers =
    "an event trigger refuses such a statement (\\dy in psql lists them): run what walrelay init "
    "--print prints the way that it lets pass, as a migration for one";

/// Whether policies of row-level security forbid it: the SQLSTATE is that of a missing right.
[[nodiscard]] bool is_about_row_security(const server_report& report);
/// What lets the role see and change all rows of a table, whose name is quoted.
[[nodiscard]] std::string allow_all_rows(const std::string& table, const std::string& role);

/// Reads libpq's text of a failed connection (with verbosity PQERRORS_VERBOSE): finds the SQLSTATE,
/// takes the lines away that are for developers of the server.
[[nodiscard]] server_report report_of_failed_connection(std::string_view text);

/// The words of a report in one line.
[[nodiscard]] std::string words_of(const server_report& report);

}  // namespace walrelay::postgres
