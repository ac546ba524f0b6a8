// What is done with a connection that is open.
#include "postgres/session/connection.hpp"
#include "postgres/session/session.hpp"
#include "postgres/session/transport.hpp"

#include <utility>

namespace walrelay::postgres {
namespace {

error closed_here() {
    return {errc::postgres_lost, "the connection to PostgreSQL was closed"};
}

query_protocol query_protocol_of(connection_kind kind) {
    return kind == connection_kind::sql ? query_protocol::extended : query_protocol::simple;
}

server_context query_context(const session& of) {
    server_context context;
    if (!of.is_closed()) {
        context.role = PQuser(of.handle());
    }
    context.version_number = of.version_number();
    return context;
}

boost::asio::awaitable<result<row_set>> run_query(std::shared_ptr<session> with,
                                                  query_protocol protocol, std::string sql,
                                                  std::vector<std::string> parameters) {
    if (with == nullptr) {
        co_return closed_here();
    }
    auto given = co_await run_statement(with, protocol, std::move(sql), std::move(parameters));
    if (given.has_error()) {
        co_return explain(given.error(), query_context(*with));
    }
    co_return std::move(*given);
}

boost::asio::awaitable<error> wait_for_end(std::shared_ptr<session> of) {
    if (of == nullptr) {
        co_return closed_here();
    }
    const server_context context{.action = server_action::query};
    for (;;) {
        const bool readable = co_await of->wait(session::wait_type::wait_read);
        if (!readable) {
            co_return closed_here();
        }
        const bool fine = of->read();
        // Parses what came: a server that shuts down says so before it closes the connection.
        PQisBusy(of->handle());
        if (of->farewell().has_value()) {
            co_return error{errc::postgres_lost, "PostgreSQL ended the session", "",
                            words_of(*of->farewell())};
        }
        if (!fine) {
            co_return error{errc::postgres_lost, "the connection to PostgreSQL broke", "",
                            words_of(report_of(of->handle()))};
        }
    }
}

}  // namespace

boost::asio::awaitable<result<row_set>> connection::query(std::string sql,
                                                          std::vector<std::string> parameters) {
    return run_query(session_, query_protocol_of(kind_), std::move(sql), std::move(parameters));
}

boost::asio::awaitable<answer> connection::ask(std::string sql,
                                               std::vector<std::string> parameters) {
    return run_statement(session_, query_protocol_of(kind_), std::move(sql), std::move(parameters));
}

boost::asio::awaitable<answer> connection::ask_row_by_row(std::string sql, row_visitor each) {
    return run_statement(session_, query_protocol_of(kind_), std::move(sql), {}, std::move(each));
}

void connection::avoid_own_schema(bool avoid) {
    if (session_ != nullptr) {
        session_->avoid_own_schema(avoid);
    }
}

bool connection::avoids_own_schema() const {
    return session_ != nullptr && session_->avoids_own_schema();
}

boost::asio::awaitable<answer> connection::ask_together(std::vector<statement> all) {
    return run_transaction(session_, std::move(all));
}

boost::asio::awaitable<error> connection::closed() {
    return wait_for_end(session_);
}

int connection::server_process() const {
    return session_->is_closed() ? 0 : PQbackendPID(session_->handle());
}

int connection::version_number() const {
    return session_ ? session_->version_number() : 0;
}

std::string connection::role() const {
    return session_ && !session_->is_closed() ? PQuser(session_->handle()) : std::string{};
}

std::string connection::database() const {
    return session_ && !session_->is_closed() ? PQdb(session_->handle()) : std::string{};
}

transport_safety connection::transport() const {
    if (!session_ || session_->is_closed()) {
        return transport_safety::local;
    }
    auto* const handle = session_->handle();
    const auto text = [](const char* said) {
        return said == nullptr ? std::string_view() : std::string_view(said);
    };
    transport_facts facts{text(PQhost(handle)), text(PQhostaddr(handle)), PQsslInUse(handle) != 0,
                          PQgssEncInUse(handle) != 0, ""};
    const pq_conninfo used{PQconninfo(handle)};
    for (const auto* option = used.get(); option != nullptr && option->keyword != nullptr;
         ++option) {
        if (std::string_view(option->keyword) == "sslmode") {
            facts.sslmode = text(option->val);
        }
    }
    return judge_transport(facts);
}

std::vector<server_report> connection::take_warnings() {
    return session_ ? session_->take_warnings() : std::vector<server_report>{};
}

void connection::close() {
    if (session_ != nullptr) {
        session_->close();
    }
}

std::shared_ptr<session> connection::release() {
    return std::exchange(session_, nullptr);
}

}  // namespace walrelay::postgres
