#include "postgres/session/session.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <openssl/ssl.h>

#include <cstring>
#include <string_view>
#include <utility>

namespace walrelay::postgres {
namespace {

constexpr std::size_t warnings_max = 100;
/// Of each text of a report.
constexpr std::size_t longest_said = 4096;
constexpr auto as_outcome = boost::asio::as_tuple(boost::asio::use_awaitable);

std::string field_of(const PGresult* failed, int name) {
    const char* text = PQresultErrorField(failed, name);
    return text == nullptr ? std::string{} : std::string(text, ::strnlen(text, longest_said));
}

}  // namespace

server_report report_of(const PGresult* failed) {
    auto message = field_of(failed, PG_DIAG_MESSAGE_PRIMARY);
    if (message.empty()) {
        message = std::string_view(PQresultErrorMessage(failed)).substr(0, longest_said);
    }
    return {field_of(failed, PG_DIAG_SQLSTATE), message, field_of(failed, PG_DIAG_MESSAGE_DETAIL),
            field_of(failed, PG_DIAG_CONTEXT), field_of(failed, PG_DIAG_SOURCE_FUNCTION)};
}

server_report report_of(const PGconn* broken) {
    return {{}, PQerrorMessage(broken)};
}

session::session(boost::asio::any_io_executor executor, pq_connection handle)
    : handle_(std::move(handle)), socket_(executor), deadline_(executor) {
    PQsetNoticeReceiver(handle_.get(), &session::on_notice, this);
}

session::~session() {
    close();
}

void session::attach_socket() {
    release_socket();
    if (const int descriptor = PQsocket(handle_.get()); descriptor >= 0) {
        socket_.assign(descriptor);
    }
}

void session::release_socket() {
    if (socket_.is_open()) {
        socket_.release();
    }
}

void session::expire_after(std::chrono::milliseconds limit) {
    expired_ = false;
    deadline_.expires_after(limit);
    deadline_.async_wait([held = weak_from_this()](const boost::system::error_code& cancelled) {
        const auto self = held.lock();
        if (cancelled || self == nullptr) {
            return;
        }
        self->expired_ = true;
        self->wake();
    });
}

void session::keep_waiting() {
    deadline_.cancel();
}

boost::asio::awaitable<bool> session::wait(wait_type type) {
    if (!socket_.is_open() || expired_) {
        co_return false;
    }
    const auto [failure] = co_await socket_.async_wait(type, as_outcome);
    co_return !failure && !is_closed() && !expired_;
}

boost::asio::awaitable<bool> session::wait_any() {
    using boost::asio::experimental::awaitable_operators::operator||;
    const auto first = co_await (wait(wait_type::wait_read) || wait(wait_type::wait_write));
    co_return (first.index() == 0 ? std::get<0>(first) : std::get<1>(first)) && !is_closed();
}

void session::wake() {
    if (socket_.is_open()) {
        socket_.cancel();
    }
}

void session::follow_loss() {
    if (PQsocket(handle_.get()) < 0) {
        release_socket();
    }
}

bool session::read() {
    const bool fine = PQconsumeInput(handle_.get()) == 1;
    // Nobody listens here, but code that a statement runs can: libpq keeps all until they are
    // taken.
    for (auto* told = PQnotifies(handle_.get()); told != nullptr;
         told = PQnotifies(handle_.get())) {
        PQfreemem(told);
    }
    follow_loss();
    return fine;
}

bool session::has_decrypted_bytes() const {
    const auto* tls = static_cast<const SSL*>(PQsslStruct(handle_.get(), "OpenSSL"));
    return tls != nullptr && SSL_pending(tls) > 0;
}

int session::write() {
    const int state = PQflush(handle_.get());
    follow_loss();
    return state;
}

boost::asio::awaitable<bool> session::write_all() {
    while (!is_closed()) {
        const int state = write();
        if (state <= 0) {
            co_return state == 0;
        }
        const bool awake = co_await wait_any();
        if (!awake || !read()) {
            co_return false;
        }
    }
    co_return false;
}

boost::asio::awaitable<bool> session::read_more() {
    bool here = has_decrypted_bytes();
    if (!here) {
        here = co_await wait(wait_type::wait_read);
    }
    co_return here && !is_closed() && read();
}

void session::on_notice(void* self, const PGresult* notice) {
    const char* severity = PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
    if (severity == nullptr) {
        return;
    }
    auto& told = *static_cast<session*>(self);
    if (std::strcmp(severity, "FATAL") == 0 || std::strcmp(severity, "PANIC") == 0) {
        told.farewell_ = report_of(notice);
    } else if (std::strcmp(severity, "WARNING") == 0 && told.warnings_.size() < warnings_max) {
        told.warnings_.push_back(report_of(notice));
    }
}

void session::close() {
    deadline_.cancel();
    release_socket();
    handle_.reset();
}

}  // namespace walrelay::postgres
