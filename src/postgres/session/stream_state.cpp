#include "postgres/session/stream_state.hpp"

#include "postgres/session/stream_warning.hpp"

#include <fmt/format.h>

#include <utility>

namespace walrelay::postgres {

stream_state::stream_state(std::shared_ptr<session> over, server_context context)
    : session_(std::move(over)), context_(std::move(context)) {}

error stream_state::closed_here() const {
    return {errc::postgres_lost,
            fmt::format("the stream of the slot {} was closed", context_.slot)};
}

result<std::optional<std::string_view>> stream_state::next_frame() {
    if (session_->is_closed()) {
        return closed_here();
    }
    if (!copy_ended_) {
        char* buffer = nullptr;
        const int length = PQgetCopyData(session_->handle(), &buffer, 1);
        frame_.reset(buffer);
        // One that came before this frame is read by now: nothing after it is given out.
        if (session_->has_warnings()) {
            ended_ = read_warnings();
        }
        if (ended_.has_value()) {
            copy_ended_ = true;
            return *ended_;
        }
        if (length > 0) {
            bytes_came_ = false;
            return std::string_view{buffer, static_cast<std::size_t>(length)};
        }
        if (length == 0 && !broken_) {
            return std::optional<std::string_view>{};
        }
        copy_ended_ = true;
    }
    if (!ended_.has_value()) {
        ended_ = end_of_copy();
    }
    if (ended_.has_value()) {
        return *ended_;
    }
    return std::optional<std::string_view>{};
}

std::optional<error> stream_state::read_warnings() {
    for (auto& each : session_->take_warnings()) {
        if (auto failure = explain_warning(each, context_)) {
            return failure;
        }
        warnings_.push_back(words_of(each));
    }
    return std::nullopt;
}

std::optional<error> stream_state::end_of_copy() {
    // The words of the server may still be on their way.
    if (!broken_ && PQisBusy(session_->handle()) == 1) {
        return std::nullopt;
    }
    const pq_result last{PQgetResult(session_->handle())};
    if (last != nullptr && PQresultStatus(last.get()) == PGRES_FATAL_ERROR) {
        return explain(report_of(last.get()), context_);
    }
    if (broken_) {
        return explain(report_of(session_->handle()), context_);
    }
    return error{errc::postgres_lost,
                 fmt::format("PostgreSQL ended the stream of the slot {}", context_.slot)};
}

boost::asio::awaitable<result<void>> stream_state::read_more(std::shared_ptr<stream_state> self) {
    auto& over = *self->session_;
    if (over.is_closed()) {
        co_return self->closed_here();
    }
    if (std::exchange(self->look_again_, false) || self->broken_) {
        co_return result<void>{};
    }
    bool readable = over.has_decrypted_bytes();
    if (!readable) {
        readable = co_await over.wait(session::wait_type::wait_read);
    }
    if (over.is_closed()) {
        co_return self->closed_here();
    }
    self->look_again_ = false;
    if (readable) {
        self->broken_ = !over.read();
        self->bytes_came_ = !self->broken_;
    }
    co_return result<void>{};
}

result<void> stream_state::send(std::string_view message) {
    feeding_.reset();
    return queue(message);
}

void stream_state::feed(const boost::asio::any_io_executor& executor,
                        std::chrono::milliseconds interval, status_maker status) {
    feeding_.emplace(feeding{boost::asio::steady_timer(executor), interval, std::move(status)});
    feed_later();
}

void stream_state::feed_later() {
    feeding_->timer.expires_after(feeding_->interval);
    feeding_->timer.async_wait([unowned = weak_from_this()](boost::system::error_code failure) {
        const auto self = unowned.lock();
        if (failure || !self || !self->feeding_ || self->session_->is_closed()) {
            return;
        }
        // A failure is told by the reader, once there is one.
        static_cast<void>(self->queue(self->feeding_->status()));
        if (self->feeding_) {
            self->feed_later();
        }
    });
}

result<void> stream_state::queue(std::string_view message) {
    if (session_->is_closed()) {
        return closed_here();
    }
    const int queued =
        PQputCopyData(session_->handle(), message.data(), static_cast<int>(message.size()));
    if (queued != 1) {
        return explain(report_of(session_->handle()), context_);
    }
    if (!writing_) {
        write_later();
    }
    return {};
}

void stream_state::write_later() {
    const int state = session_->write();
    writing_ = state == 1;
    broken_ = broken_ || state < 0 || PQsocket(session_->handle()) < 0;
    if (state == 0 && !broken_) {
        return;
    }
    look_again_ = true;
    session_->wake();
    if (broken_) {
        writing_ = false;
        return;
    }
    session_->when_writable([self = shared_from_this()](bool writable) {
        self->writing_ = false;
        if (writable) {
            self->write_later();
        }
    });
}

boost::asio::awaitable<void> stream_state::drain() {
    while (!session_->is_closed() && !session_->has_expired()) {
        const auto frame = next_frame();
        if (frame.has_error()) {
            co_return;
        }
        if (frame->has_value()) {
            continue;
        }
        const auto more = co_await read_more(shared_from_this());
        if (more.has_error()) {
            co_return;
        }
    }
}

boost::asio::awaitable<void> stream_state::say_goodbye(std::chrono::milliseconds limit) {
    if (session_->is_closed() || broken_) {
        co_return;
    }
    session_->expire_after(limit);
    if (PQputCopyEnd(session_->handle(), nullptr) != 1) {
        co_return;
    }
    // Not within the condition of an if, nor behind || and &&: GCC 12 then destroys the awaitables
    // of branches that were never taken. So it is in all of this folder.
    const bool written = co_await session_->write_all();
    if (!written) {
        co_return;
    }
    co_await drain();
}

void stream_state::close() {
    feeding_.reset();
    frame_.reset();
    session_->close();
}

}  // namespace walrelay::postgres
