// Lets nats.c's event-loop mode run on an Asio executor.
//
// Contract of nats.c 3.4 (src/conn.c, natsOptions_SetEventLoop): attach, read, write and detach may
// be called from any thread and with the connection's lock held, so none of them calls back into
// the library: everything is posted to the executor. The socket is watched through a duplicate of
// the descriptor, because the library closes its own from whatever thread notices the end.
#pragma once

#include "nats/handles.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <atomic>
#include <functional>
#include <memory>

namespace walrelay::nats {

class loop_adapter : public std::enable_shared_from_this<loop_adapter> {
public:
    /// `on_read` is called on the executor after the library has processed what was readable.
    loop_adapter(boost::asio::any_io_executor executor, std::function<void()> on_read);

    /// Makes `options` attach its connection here. The adapter must outlive the attachment, which
    /// the library's own reference to it takes care of.
    void install(natsOptions* options);

    /// Writes what the library has buffered, as far as the socket takes it now. On the executor.
    void flush();

    /// No further event is passed to the library. On the executor.
    void stop();

private:
    static natsStatus attach(void** user_data, void* loop, natsConnection* connection,
                             natsSock socket);
    static natsStatus read(void* user_data, bool add);
    static natsStatus write(void* user_data, bool add);
    static natsStatus detach(void* user_data);

    void begin(natsConnection* connection, int descriptor);
    void wait_readable();
    void wait_writable();

    boost::asio::any_io_executor executor_;
    std::function<void()> on_read_;
    boost::asio::posix::stream_descriptor socket_;
    natsConnection* connection_ = nullptr;
    // Set by the library's threads, read on the executor.
    std::atomic<bool> write_wanted_ = false;
    std::atomic<bool> flush_posted_ = false;
    bool waiting_writable_ = false;
    bool stopped_ = false;
};

}  // namespace walrelay::nats
