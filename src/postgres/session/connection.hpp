// One connection to PostgreSQL on the executor of the program.
//
// Non-blocking from start to end: libpq's look-up of host names goes on on a thread of its own.
// Knows nothing of the WAL, of slots or of outboxes; libpq stays in the .cpp files.
#pragma once

#include "core/error.hpp"
#include "core/facts.hpp"
#include "postgres/session/answer.hpp"
#include "postgres/session/row_set.hpp"
#include "postgres/session/statement.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::postgres {

class session;

enum class connection_kind {
    /// For queries, with the extended protocol and search_path = pg_catalog.
    sql,
    /// `replication=database`: replication commands and queries of the simple protocol.
    replication
};

struct connect_options {
    /// A libpq connection string or URI; what it leaves open comes from PG* and the password file.
    std::string conninfo;
    /// Another one whose values go before those of `conninfo`, for another role. Where it names a
    /// user, no password of the other is used.
    std::string over = {};
    connection_kind kind = connection_kind::sql;
    /// For all hosts of the conninfo together, up to a session that is ready for queries.
    std::chrono::milliseconds timeout{10'000};
    /// Shown in pg_stat_activity, unless the user chose a name.
    std::string application_name = "walrelay";
    /// Of at most one of these the first line is the password, asked at each connect: a file, and a
    /// command of /bin/sh. Of the role of `over` where that is set. Errors of either are
    /// postgres_unavailable.
    std::string password_file = {};
    std::string password_command = {};
};

/// Whether libpq can read the conninfo, found without connecting. errc::configuration_invalid,
/// which names `key` of the configuration and does not quote the conninfo.
[[nodiscard]] result<void> check_conninfo(const std::string& conninfo,
                                          const std::string& key = "postgres.conninfo");
/// Whether it holds a password itself; false where libpq cannot read it.
[[nodiscard]] bool has_password(const std::string& conninfo);
/// What libpq takes for a keyword in `conninfo` and does not know. Where a value lacks its quotes
/// that can be a part of it, of a password even: to be shown only where it is near a known one.
[[nodiscard]] std::optional<std::string> unknown_keyword(const std::string& conninfo);
/// Those of this libpq, see PQconndefaults.
[[nodiscard]] std::vector<std::string> known_keywords();

/// Movable; ends the connection with its life. Operations under way when it is closed or destroyed
/// complete with errc::postgres_lost. One operation at a time. Not for several threads.
class connection {
public:
    /// Connects and pins what changes the text of values (dates, floats, bytea, encoding) and what
    /// would end a session that idles, against whatever roles, databases and PG* say.
    /// errc::configuration_invalid if libpq cannot read the conninfo, errc::postgres_refused if
    /// the server refuses the role, its password or the database, else errc::postgres_unavailable.
    [[nodiscard]] static boost::asio::awaitable<result<connection>> open(
        boost::asio::any_io_executor executor, connect_options options);

    /// Takes over a session that is ready for queries.
    connection(std::shared_ptr<session> opened, connection_kind kind);
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;
    connection(connection&&) noexcept = default;
    connection& operator=(connection&& other) noexcept;
    ~connection();

    /// Runs one statement. `parameters` go as text, only with connection_kind::sql. Errors are
    /// those of server_error.hpp with `server_action::query`.
    [[nodiscard]] boost::asio::awaitable<result<row_set>> query(
        std::string sql, std::vector<std::string> parameters = {});

    /// The same, for callers that explain an error themselves.
    [[nodiscard]] boost::asio::awaitable<answer> ask(std::string sql,
                                                     std::vector<std::string> parameters = {});

    /// The same, for an answer of many rows: `each` gets them while they come, and no more than one
    /// is kept.
    [[nodiscard]] boost::asio::awaitable<answer> ask_row_by_row(std::string sql, row_visitor each);

    /// Runs statements in one transaction with one round trip, only with connection_kind::sql. The
    /// answer is that of the last one, or the first error: then nothing has happened.
    [[nodiscard]] boost::asio::awaitable<answer> ask_together(std::vector<statement> all);

    /// Resolves when the idle connection ends, whoever ended it: at the beginning of a fast
    /// shutdown of the server, for one. No query may run meanwhile.
    [[nodiscard]] boost::asio::awaitable<error> closed();

    /// The server's process (its pid); 0 once closed.
    [[nodiscard]] int server_process() const;
    /// `server_version_num`: 150020 for 15.20.
    [[nodiscard]] int version_number() const;
    /// The role and the database of this session, also where the conninfo leaves them open.
    [[nodiscard]] std::string role() const;
    [[nodiscard]] std::string database() const;
    /// How safe its way is. Source: libpq documentation, "SSL Support", table of sslmode.
    [[nodiscard]] transport_safety transport() const;

    /// Keeps every statement on a table of the schema walrelay away from the server, or no longer:
    /// such a statement fails as if the schema were not there (sqlstate 3F000).
    void avoid_own_schema(bool avoid);
    [[nodiscard]] bool avoids_own_schema() const;

    /// Warnings of the server since they were taken last.
    [[nodiscard]] std::vector<server_report> take_warnings();

    /// Ends the connection at once.
    void close();

    /// Gives the session away, for the stream that goes on with it; leaves a closed connection.
    [[nodiscard]] std::shared_ptr<session> release();

private:
    std::shared_ptr<session> session_;
    connection_kind kind_;
};

}  // namespace walrelay::postgres
