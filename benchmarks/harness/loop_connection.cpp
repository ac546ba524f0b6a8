#include "harness/loop_connection.hpp"

#include <charconv>
#include <stdexcept>

namespace walrelay::bench {

loop_connection::loop_connection(const std::string& url, const std::string& inbox) {
    natsOptions* raw = nullptr;
    test::require(natsOptions_Create(&raw), "cannot make options");
    const test::owned<natsOptions, natsOptions_Destroy> options(raw);
    test::require(natsOptions_SetURL(raw, url.c_str()), url);
    test::require(natsOptions_SetAllowReconnect(raw, false), url);
    // Else it is a thread of the library that asks for the socket, a millisecond later.
    test::require(natsOptions_SetSendAsap(raw, true), url);
    test::require(natsOptions_SetEventLoop(raw, this, attach, want_read, want_write, detach), url);
    natsConnection* link = nullptr;
    test::require(natsConnection_Connect(&link, raw), "cannot connect to " + url);
    link_.reset(link);
    natsSubscription* subscription = nullptr;
    test::require(natsConnection_SubscribeSync(&subscription, link, inbox.c_str()), inbox);
    subscription_.reset(subscription);
    test::require(natsSubscription_SetPendingLimits(subscription, -1, -1), inbox);
    write();
}

loop_connection::~loop_connection() {
    natsConnection_Close(link_.get());
}

pollfd loop_connection::interest() const {
    const int events = write_wanted_ ? POLLIN | POLLOUT : POLLIN;
    return {.fd = socket_, .events = static_cast<short>(events), .revents = 0};
}

void loop_connection::process(short ready, const std::function<void(natsMsg*)>& take) {
    if ((ready & POLLOUT) != 0) {
        write();
    }
    if ((ready & (POLLIN | POLLHUP | POLLERR)) != 0) {
        natsConnection_ProcessReadEvent(link_.get());
    }
    natsMsg* raw = nullptr;
    while (natsSubscription_NextMsg(&raw, subscription_.get(), 0) == NATS_OK) {
        const test::message_handle message(raw);
        take(raw);
    }
    if (natsConnection_IsClosed(link_.get())) {
        throw std::runtime_error("the broker closed the connection");
    }
}

void loop_connection::write() {
    if (write_wanted_) {
        natsConnection_ProcessWriteEvent(link_.get());
    }
}

natsStatus loop_connection::attach(void** user, void* loop, natsConnection* /*link*/,
                                   natsSock socket) {
    static_cast<loop_connection*>(loop)->socket_ = socket;
    *user = loop;
    return NATS_OK;
}

natsStatus loop_connection::want_read(void* /*user*/, bool /*wanted*/) {
    return NATS_OK;
}

natsStatus loop_connection::want_write(void* user, bool wanted) {
    static_cast<loop_connection*>(user)->write_wanted_ = wanted;
    return NATS_OK;
}

natsStatus loop_connection::detach(void* /*user*/) {
    return NATS_OK;
}

std::string new_inbox() {
    natsInbox* raw = nullptr;
    test::require(natsInbox_Create(&raw), "cannot make an inbox");
    const test::owned<natsInbox, natsInbox_Destroy> inbox(raw);
    return std::string(raw) + ".";
}

std::string_view body_of(natsMsg* message) {
    return {natsMsg_GetData(message), static_cast<std::size_t>(natsMsg_GetDataLength(message))};
}

std::uint64_t acked_sequence(std::string_view answer) {
    if (!answer.starts_with("{\"stream\":")) {
        if (answer.starts_with("{\"error\":")) {
            throw std::runtime_error("the broker refused a message: " + std::string(answer));
        }
        return 0;
    }
    constexpr std::string_view name = "\"seq\":";
    const auto found = answer.find(name);
    std::uint64_t sequence = 0;
    if (found != std::string_view::npos) {
        const char* first = answer.data() + found + name.size();
        while (first != answer.data() + answer.size() && *first == ' ') {
            ++first;
        }
        std::from_chars(first, answer.data() + answer.size(), sequence);
    }
    return sequence;
}

}  // namespace walrelay::bench
