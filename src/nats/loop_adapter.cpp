#include "nats/loop_adapter.hpp"

#include <boost/asio/post.hpp>

#include <fcntl.h>

#include <utility>

namespace walrelay::nats {
namespace {

using shared_adapter = std::shared_ptr<loop_adapter>;

}  // namespace

loop_adapter::loop_adapter(boost::asio::any_io_executor executor, std::function<void()> on_read)
    : executor_(std::move(executor)), on_read_(std::move(on_read)), socket_(executor_) {}

void loop_adapter::install(natsOptions* options) {
    natsOptions_SetEventLoop(options, this, &attach, &read, &write, &detach);
}

natsStatus loop_adapter::attach(void** user_data, void* loop, natsConnection* connection,
                                natsSock socket) {
    const int descriptor = ::fcntl(socket, F_DUPFD_CLOEXEC, 0);
    if (descriptor < 0) {
        return NATS_SYS_ERROR;
    }
    auto adapter = static_cast<loop_adapter*>(loop)->shared_from_this();
    *user_data = new shared_adapter(adapter);
    boost::asio::post(adapter->executor_, [adapter, connection, descriptor] {
        adapter->begin(connection, descriptor);
    });
    return NATS_OK;
}

natsStatus loop_adapter::read(void* /*user_data*/, bool /*add*/) {
    // Reading is on from attach to detach.
    return NATS_OK;
}

natsStatus loop_adapter::write(void* user_data, bool add) {
    const auto& adapter = *static_cast<shared_adapter*>(user_data);
    adapter->write_wanted_ = add;
    if (add && !adapter->flush_posted_.exchange(true)) {
        boost::asio::post(adapter->executor_, [adapter] {
            adapter->flush_posted_ = false;
            adapter->flush();
        });
    }
    return NATS_OK;
}

natsStatus loop_adapter::detach(void* user_data) {
    const std::unique_ptr<shared_adapter> adapter(static_cast<shared_adapter*>(user_data));
    boost::asio::post((*adapter)->executor_, [stopping = *adapter] { stopping->stop(); });
    return NATS_OK;
}

void loop_adapter::begin(natsConnection* connection, int descriptor) {
    socket_.assign(descriptor);
    if (stopped_) {
        socket_.close();
        return;
    }
    connection_ = connection;
    wait_readable();
    flush();
}

void loop_adapter::wait_readable() {
    socket_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                       [self = shared_from_this()](const boost::system::error_code& failure) {
                           if (failure || self->stopped_) {
                               return;
                           }
                           natsConnection_ProcessReadEvent(self->connection_);
                           self->on_read_();
                           if (!self->stopped_) {
                               self->wait_readable();
                           }
                       });
}

void loop_adapter::flush() {
    if (stopped_ || connection_ == nullptr || !write_wanted_ || waiting_writable_) {
        return;
    }
    natsConnection_ProcessWriteEvent(connection_);
    if (write_wanted_ && !stopped_) {
        wait_writable();
    }
}

void loop_adapter::wait_writable() {
    waiting_writable_ = true;
    socket_.async_wait(boost::asio::posix::stream_descriptor::wait_write,
                       [self = shared_from_this()](const boost::system::error_code& failure) {
                           self->waiting_writable_ = false;
                           if (!failure) {
                               self->flush();
                           }
                       });
}

void loop_adapter::stop() {
    stopped_ = true;
    connection_ = nullptr;
    boost::system::error_code ignored;
    socket_.close(ignored);
}

}  // namespace walrelay::nats
