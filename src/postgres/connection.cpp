#include "postgres/connection.hpp"

#include "postgres/connect_parameters.hpp"
#include "postgres/session.hpp"

#include <fmt/format.h>

#include <utility>

namespace walrelay::postgres {
namespace {

std::string text_or_empty(const char* text) {
    return text == nullptr ? "" : text;
}

server_context context_of(const session& of, server_action action) {
    server_context context{.action = action};
    if (!of.is_closed()) {
        context.role = text_or_empty(PQuser(of.handle()));
        context.database = text_or_empty(PQdb(of.handle()));
    }
    context.version_number = of.version_number();
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

/// libpq's own loop, PQconnectPoll. The socket may be another one after each step.
boost::asio::awaitable<bool> shake_hands(std::shared_ptr<session> with) {
    auto step =
        PQstatus(with->handle()) == CONNECTION_BAD ? PGRES_POLLING_FAILED : PGRES_POLLING_WRITING;
    while (step != PGRES_POLLING_OK) {
        if (step == PGRES_POLLING_FAILED) {
            co_return false;
        }
        with->attach_socket();
        const auto direction = step == PGRES_POLLING_READING ? session::wait_type::wait_read
                                                             : session::wait_type::wait_write;
        const bool awake = co_await with->wait(direction);
        if (!awake) {
            co_return false;
        }
        with->release_socket();
        step = PQconnectPoll(with->handle());
    }
    with->attach_socket();
    with->note_server_version();
    co_return PQsetnonblocking(with->handle(), 1) == 0;
}

boost::asio::awaitable<result<void>> pin(std::shared_ptr<session> with, connection_kind kind) {
    const auto done = co_await run_statement(with, protocol_of(kind), pin_statement(kind), {});
    if (done.has_error()) {
        co_return explain(done.error(), context_of(*with, action_of(kind)));
    }
    co_return result<void>{};
}

std::shared_ptr<session> begin_session(const boost::asio::any_io_executor& executor,
                                       const connect_parameters& parameters) {
    // Looks host names up, which blocks: with the usual resolver for milliseconds, and this is
    // done only where there is no stream to be served.
    pq_connection handle{
        PQconnectStartParams(parameters.keywords().data(), parameters.values().data(), 0)};
    if (handle == nullptr) {
        return nullptr;
    }
    // Verbose errors name the SQLSTATE, which libpq tells in no other way before there are results.
    PQsetErrorVerbosity(handle.get(), PQERRORS_VERBOSE);
    return std::make_shared<session>(executor, std::move(handle));
}

error failed_connection(const session& with, const connect_options& options) {
    if (with.has_expired()) {
        return timed_out(options.timeout);
    }
    return explain(report_of_failed_connection(PQerrorMessage(with.handle())),
                   context_of(with, action_of(options.kind)));
}

}  // namespace

boost::asio::awaitable<result<connection>> connection::open(boost::asio::any_io_executor executor,
                                                            connect_options options) {
    const auto parameters = connect_parameters::from(options);
    if (parameters.has_error()) {
        co_return parameters.error();
    }
    const auto begun = begin_session(executor, *parameters);
    if (begun == nullptr) {
        co_return error{errc::postgres_unavailable, "out of memory for a connection to PostgreSQL"};
    }
    begun->expire_after(options.timeout);
    const bool ready = co_await shake_hands(begun);
    if (!ready) {
        co_return failed_connection(*begun, options);
    }
    const auto pinned = co_await pin(begun, options.kind);
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
