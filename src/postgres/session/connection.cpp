#include "postgres/session/connection.hpp"

#include "postgres/session/connect_parameters.hpp"
#include "postgres/session/handshake.hpp"
#include "postgres/session/password_source.hpp"
#include "postgres/session/pooler.hpp"
#include "postgres/session/session.hpp"

#include <fmt/format.h>

#include <utility>

namespace walrelay::postgres {
namespace {

std::string text_or_empty(const char* text) {
    return text == nullptr ? "" : text;
}

/// `of` may be null.
server_context context_of(const PGconn* of, int version_number, server_action action) {
    server_context context{.action = action};
    if (of != nullptr) {
        context.role = text_or_empty(PQuser(of));
        context.database = text_or_empty(PQdb(of));
    }
    context.version_number = version_number;
    return context;
}

server_action action_of(connection_kind kind) {
    return kind == connection_kind::sql ? server_action::connect_sql
                                        : server_action::connect_replication;
}

query_protocol protocol_of(connection_kind kind) {
    return kind == connection_kind::sql ? query_protocol::extended : query_protocol::simple;
}

error timed_out(std::chrono::milliseconds limit) {
    return {errc::postgres_unavailable,
            fmt::format("PostgreSQL did not answer within {} ms", limit.count())};
}

/// False where a pooler is in between, and nothing was set.
boost::asio::awaitable<result<bool>> pin(std::shared_ptr<session> with, connection_kind kind,
                                         std::optional<int> process) {
    auto statement = pin_statement(kind, process);
    const auto done = co_await run_statement(with, protocol_of(kind), std::move(statement), {});
    if (done.has_error()) {
        co_return explain(done.error(),
                          context_of(with->handle(), with->version_number(), action_of(kind)));
    }
    co_return !done->empty();
}

/// What a session of walrelay sets must stay in it, and nowhere else.
boost::asio::awaitable<result<void>> begin_session(boost::asio::any_io_executor executor,
                                                   std::shared_ptr<session> with,
                                                   connection_kind kind,
                                                   connect_parameters parameters,
                                                   std::chrono::steady_clock::time_point deadline) {
    const auto pinned = co_await pin(with, kind, PQbackendPID(with->handle()));
    if (pinned.has_error() || *pinned) {
        co_return pinned.has_error() ? result<void>(pinned.error()) : result<void>{};
    }
    if (kind == connection_kind::sql) {
        auto kept = co_await require_own_session(executor, with, std::move(parameters), deadline);
        if (kept.has_error()) {
            co_return kept;
        }
    }
    const auto pinned_there = co_await pin(with, kind, std::nullopt);
    co_return pinned_there.has_error() ? result<void>(pinned_there.error()) : result<void>{};
}

error nameless(std::chrono::milliseconds limit) {
    return {errc::postgres_unavailable,
            fmt::format("the host name of PostgreSQL was not found within {} ms", limit.count()),
            "see that the name server of this machine answers, or add hostaddr to "
            "postgres.conninfo"};
}

error failed_connection(const handshake_end& end, const connect_options& options) {
    switch (end.how) {
        case handshake_end::outcome::late:
            return timed_out(options.timeout);
        case handshake_end::outcome::nameless:
            return nameless(options.timeout);
        case handshake_end::outcome::out_of_memory:
            return {errc::postgres_unavailable, "out of memory for a connection to PostgreSQL"};
        default:
            break;
    }
    return explain(report_of_failed_connection(PQerrorMessage(end.handle.get())),
                   context_of(end.handle.get(), 0, action_of(options.kind)));
}

/// At each connect anew.
boost::asio::awaitable<result<void>> add_password(boost::asio::any_io_executor executor,
                                                  const connect_options& options,
                                                  connect_parameters& into,
                                                  std::chrono::steady_clock::time_point deadline) {
    if (options.password_file.empty() && options.password_command.empty()) {
        co_return result<void>{};
    }
    const std::string whose = options.over.empty() ? "postgres." : "postgres.writer_";
    auto password = read_password_file(options.password_file, whose + "password_file");
    if (!options.password_command.empty()) {
        auto key = whose + "password_command";
        password = co_await run_password_command(executor, options.password_command, deadline,
                                                 std::move(key));
    }
    if (password.has_error()) {
        co_return password.error();
    }
    into.set("password", std::move(*password));
    co_return result<void>{};
}

}  // namespace

boost::asio::awaitable<result<connection>> connection::open(boost::asio::any_io_executor executor,
                                                            connect_options options) {
    auto parameters = connect_parameters::from(options);
    if (parameters.has_error()) {
        co_return parameters.error();
    }
    const auto deadline = std::chrono::steady_clock::now() + options.timeout;
    const auto signed_in = co_await add_password(executor, options, *parameters, deadline);
    if (signed_in.has_error()) {
        co_return signed_in.error();
    }
    auto shaken = co_await shake_hands(executor, *parameters, deadline);
    if (shaken.how != handshake_end::outcome::ready) {
        co_return failed_connection(shaken, options);
    }
    const auto begun = std::make_shared<session>(executor, std::move(shaken.handle));
    begun->attach_socket();
    begun->note_server_version();
    const auto left = deadline - std::chrono::steady_clock::now();
    begun->expire_after(std::chrono::duration_cast<std::chrono::milliseconds>(left));
    const auto pinned =
        co_await begin_session(executor, begun, options.kind, *parameters, deadline);
    if (begun->has_expired()) {
        co_return timed_out(options.timeout);
    }
    if (pinned.has_error()) {
        co_return pinned.error();
    }
    begun->keep_waiting();
    co_return connection{begun, options.kind};
}

connection::connection(std::shared_ptr<session> opened, connection_kind kind)
    : session_(std::move(opened)), kind_(kind) {}

connection& connection::operator=(connection&& other) noexcept {
    if (this != &other) {
        close();
        session_ = std::move(other.session_);
        kind_ = other.kind_;
    }
    return *this;
}

connection::~connection() {
    close();
}

}  // namespace walrelay::postgres
