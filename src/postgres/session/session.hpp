// The state that a connection or a stream shares with its pending operations: libpq's handle and
// the wait for its socket. Lives until the last of them is done; closed by its owner at any time.
#pragma once

#include "postgres/session/answer.hpp"
#include "postgres/session/pq.hpp"
#include "postgres/session/statement.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace walrelay::postgres {

class session : public std::enable_shared_from_this<session> {
public:
    using wait_type = boost::asio::posix::stream_descriptor::wait_type;

    session(boost::asio::any_io_executor executor, pq_connection handle);
    session(const session&) = delete;
    session& operator=(const session&) = delete;
    ~session();

    /// Null once closed.
    [[nodiscard]] PGconn* handle() const { return handle_.get(); }
    [[nodiscard]] bool is_closed() const { return handle_ == nullptr; }
    [[nodiscard]] bool has_expired() const { return expired_; }
    [[nodiscard]] int version_number() const { return version_number_; }

    /// Follows libpq to the socket that it uses now. To be released before libpq may close it.
    void attach_socket();
    void release_socket();

    /// Ends all waits after `limit`, until `keep_waiting`.
    void expire_after(std::chrono::milliseconds limit);
    void keep_waiting();

    /// False if the wait ended for another reason than the socket: closed, expired or woken. The
    /// caller keeps the session alive, as for all coroutines here.
    [[nodiscard]] boost::asio::awaitable<bool> wait(wait_type type);
    /// Waits for the socket to take or to give bytes, whichever is first.
    [[nodiscard]] boost::asio::awaitable<bool> wait_any();
    /// Ends the waits under way, so that their callers look around.
    void wake();

    /// Calls `done(bool)` once the socket takes bytes; false as with `wait`.
    template <class Handler>
    void when_writable(Handler done);

    /// Reads what the socket has. False if the connection broke; what came before is still there.
    [[nodiscard]] bool read();
    /// Bytes that were decrypted already, for which the socket never becomes readable.
    [[nodiscard]] bool has_decrypted_bytes() const;
    /// 0 all written, 1 the socket is full, -1 broken. As PQflush, which may also read.
    [[nodiscard]] int write();
    /// Writes until nothing is left, reading meanwhile. False as with `wait`, or if broken.
    [[nodiscard]] boost::asio::awaitable<bool> write_all();
    /// Waits and reads once. False as with `wait`, or if broken.
    [[nodiscard]] boost::asio::awaitable<bool> read_more();

    /// The last message of a server that ended an idle session, if it sent one.
    [[nodiscard]] const std::optional<server_report>& farewell() const { return farewell_; }
    /// Warnings of the server since they were taken last, the first hundred of them.
    [[nodiscard]] bool has_warnings() const { return !warnings_.empty(); }
    [[nodiscard]] std::vector<server_report> take_warnings() {
        return std::exchange(warnings_, {});
    }
    void note_server_version() { version_number_ = PQserverVersion(handle_.get()); }

    /// From now on no statement that names a table of the schema walrelay is sent: it belongs to a
    /// role that is not trusted, whose code it could run. Such a statement is answered as if the
    /// schema were not there.
    void avoid_own_schema(bool avoid) { avoids_own_schema_ = avoid; }
    [[nodiscard]] bool avoids_own_schema() const { return avoids_own_schema_; }
    [[nodiscard]] bool refuses(std::string_view statement) const {
        return avoids_own_schema_ && statement.find("walrelay.") != std::string_view::npos;
    }

    void close();

private:
    static void on_notice(void* self, const PGresult* notice);
    /// libpq closes its socket itself when the connection breaks; lets go of it at once then.
    void follow_loss();

    pq_connection handle_;
    boost::asio::posix::stream_descriptor socket_;
    boost::asio::steady_timer deadline_;
    std::optional<server_report> farewell_;
    std::vector<server_report> warnings_;
    int version_number_ = 0;
    bool expired_ = false;
    bool avoids_own_schema_ = false;
};

template <class Handler>
void session::when_writable(Handler done) {
    socket_.async_wait(wait_type::wait_write,
                       [self = shared_from_this(),
                        done = std::move(done)](const boost::system::error_code& failure) mutable {
                           done(!failure && !self->is_closed());
                       });
}

/// simple is what a replication connection understands; only extended takes parameters.
enum class query_protocol { simple, extended };

/// Runs one statement to its end. With `each` its rows go there, and the answer has none: libpq
/// documentation, "Retrieving Query Results Row-by-Row".
[[nodiscard]] boost::asio::awaitable<answer> run_statement(std::shared_ptr<session> with,
                                                           query_protocol protocol, std::string sql,
                                                           std::vector<std::string> parameters,
                                                           row_visitor each = {});

/// Runs statements in one transaction, with one round trip, on a session of the extended protocol.
/// The answer is that of the last one, or the first error: then nothing has happened.
[[nodiscard]] boost::asio::awaitable<answer> run_transaction(std::shared_ptr<session> with,
                                                             std::vector<statement> all);

/// The rows or the error that a result of libpq holds.
[[nodiscard]] answer read_answer(const PGresult* from);
/// The answer to a statement that session::refuses.
[[nodiscard]] server_report own_schema_avoided();

}  // namespace walrelay::postgres
