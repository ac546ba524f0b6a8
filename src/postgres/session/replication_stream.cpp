#include "postgres/session/replication_stream.hpp"

#include "core/assert.hpp"
#include "postgres/session/session.hpp"
#include "postgres/session/start_command.hpp"
#include "postgres/session/stream_state.hpp"

#include <utility>

namespace walrelay::postgres {
namespace {

server_context context_of(const connection& opened, const start_options& options) {
    return {.action = server_action::start_streaming,
            .role = opened.role(),
            .database = opened.database(),
            .slot = options.slot,
            .plugin = options.plugin,
            .publication = options.publication,
            .version_number = opened.version_number(),
            .earlier_process = options.earlier_process};
}

/// Sends the command and waits for the server to begin the copy, or for its refusal.
boost::asio::awaitable<result<void>> begin_copy(std::shared_ptr<session> over, std::string command,
                                                server_context context) {
    if (over == nullptr || over->is_closed()) {
        co_return error{errc::postgres_lost, "the connection to PostgreSQL was closed"};
    }
    if (PQsendQuery(over->handle(), command.c_str()) != 1) {
        co_return explain(report_of(over->handle()), context);
    }
    bool whole = co_await over->write_all();
    while (whole && PQisBusy(over->handle()) == 1) {
        whole = co_await over->read_more();
    }
    if (over->is_closed()) {
        co_return error{errc::postgres_lost, "the connection to PostgreSQL was closed"};
    }
    const pq_result first{PQgetResult(over->handle())};
    if (first != nullptr && PQresultStatus(first.get()) == PGRES_COPY_BOTH) {
        co_return result<void>{};
    }
    co_return explain(first ? report_of(first.get()) : report_of(over->handle()), context);
}

boost::asio::awaitable<void> finish_stream(std::shared_ptr<stream_state> state,
                                           std::chrono::milliseconds limit) {
    if (state == nullptr) {
        co_return;
    }
    co_await state->say_goodbye(limit);
    state->close();
}

}  // namespace

boost::asio::awaitable<result<replication_stream>> replication_stream::start(
    connection opened, start_options options) {
    auto context = context_of(opened, options);
    auto statement = start_command(options, opened.version_number());
    const auto over = opened.release();
    const auto begun = co_await begin_copy(over, std::move(statement), context);
    if (begun.has_error()) {
        if (over != nullptr) {
            over->close();
        }
        co_return begun.error();
    }
    context.action = server_action::stream;
    co_return replication_stream{std::make_shared<stream_state>(over, std::move(context))};
}

replication_stream::replication_stream(std::shared_ptr<stream_state> started)
    : state_(std::move(started)) {}

replication_stream& replication_stream::operator=(replication_stream&& other) noexcept {
    if (this != &other) {
        close();
        state_ = std::move(other.state_);
    }
    return *this;
}

replication_stream::~replication_stream() {
    close();
}

int replication_stream::server_process() const {
    WALRELAY_ASSERT(state_ != nullptr);
    return state_->server_process();
}

result<std::optional<std::string_view>> replication_stream::next_frame() {
    WALRELAY_ASSERT(state_ != nullptr);
    return state_->next_frame();
}

bool replication_stream::has_part_of_frame() const {
    return state_ != nullptr && state_->has_part_of_frame();
}

void replication_stream::let_go() {
    if (state_ != nullptr) {
        state_->let_go();
    }
}

std::vector<std::string> replication_stream::take_warnings() {
    return state_ == nullptr ? std::vector<std::string>{} : state_->take_warnings();
}

boost::asio::awaitable<result<void>> replication_stream::wait_readable() {
    WALRELAY_ASSERT(state_ != nullptr);
    return stream_state::read_more(state_);
}

void replication_stream::interrupt() {
    if (state_ != nullptr) {
        state_->interrupt();
    }
}

result<void> replication_stream::send(std::string_view message) {
    WALRELAY_ASSERT(state_ != nullptr);
    return state_->send(message);
}

void replication_stream::feed_until_sent(const boost::asio::any_io_executor& executor,
                                         std::chrono::milliseconds interval, status_maker status) {
    if (state_ != nullptr) {
        state_->feed(executor, interval, std::move(status));
    }
}

boost::asio::awaitable<void> replication_stream::finish(std::chrono::milliseconds limit) {
    return finish_stream(state_, limit);
}

void replication_stream::close() {
    if (state_ != nullptr) {
        state_->close();
    }
}

}  // namespace walrelay::postgres
