// See tcp_proxy.hpp. One thread with poll(); the mutex is held except while it waits.
#include "chaos/tcp_proxy.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace walrelay::chaos {
namespace {

sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

[[noreturn]] void throw_errno(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

int listen_somewhere(std::uint16_t& port) {
    constexpr int backlog = 64;
    const int handle = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    auto address = loopback(0);
    socklen_t length = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (handle < 0 || bind(handle, generic, length) != 0 || listen(handle, backlog) != 0 ||
        getsockname(handle, generic, &length) != 0) {
        throw_errno("a proxy cannot listen");
    }
    port = ntohs(address.sin_port);
    return handle;
}

void send_at_once(int handle) {
    const int yes = 1;
    setsockopt(handle, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

/// -1 if nobody listens there.
int connect_to(std::uint16_t port) {
    const int handle = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const auto address = loopback(port);
    if (handle < 0 ||
        connect(handle, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        close(handle);
        return -1;
    }
    send_at_once(handle);
    return handle;
}

void reset(int handle) {
    constexpr linger at_once{.l_onoff = 1, .l_linger = 0};
    setsockopt(handle, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close(handle);
}

}  // namespace

struct tcp_proxy::connection {
    connection(int client_handle, int server_handle)
        : client(client_handle),
          server(server_handle),
          to_server(client, server),
          to_client(server, client) {}

    void reset_both() const {
        reset(client);
        reset(server);
    }

    int client;
    int server;
    proxy_flow to_server;
    proxy_flow to_client;
};

tcp_proxy::tcp_proxy(std::uint16_t target_port, change_of_words first_words)
    : target_port_(target_port),
      first_words_(std::move(first_words)),
      listener_(listen_somewhere(port_)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this] { work(); }) {}

tcp_proxy::~tcp_proxy() {
    {
        const std::scoped_lock lock(mutex_);
        stopping_ = true;
    }
    wake();
    thread_.join();
    reset_all();
    close(listener_);
    close(wake_);
}

link_rules& tcp_proxy::rules(direction which) {
    return rules_.at(static_cast<std::size_t>(which));
}

link_meter& tcp_proxy::meter(direction which) {
    return meters_.at(static_cast<std::size_t>(which));
}

void tcp_proxy::wake() const {
    (void)eventfd_write(wake_, 1);
}

void tcp_proxy::set(direction which, const link_rules& wanted) {
    const std::scoped_lock lock(mutex_);
    rules(which) = wanted;
    wake();
}

void tcp_proxy::heal() {
    const std::scoped_lock lock(mutex_);
    rules_ = {};
    wake();
}

void tcp_proxy::reset_all() {
    const std::scoped_lock lock(mutex_);
    for (const auto& link : connections_) {
        link.reset_both();
    }
    connections_.clear();
    wake();
}

void tcp_proxy::refuse(bool refusing) {
    {
        const std::scoped_lock lock(mutex_);
        refusing_ = refusing;
    }
    if (refusing) {
        reset_all();
    }
}

void tcp_proxy::half_close_all(direction which) {
    const std::scoped_lock lock(mutex_);
    for (auto& link : connections_) {
        (which == direction::to_server ? link.to_server : link.to_client).half_close();
    }
    wake();
}

void tcp_proxy::cut_after(direction which, std::uint64_t bytes) {
    restart_count();
    const std::scoped_lock lock(mutex_);
    meter(which).cut_at = bytes;
}

bool tcp_proxy::cut_pending(direction which) {
    const std::scoped_lock lock(mutex_);
    return meter(which).cut_at.has_value();
}

void tcp_proxy::restart_count() {
    const std::scoped_lock lock(mutex_);
    meters_ = {};
}

std::uint64_t tcp_proxy::passed_bytes(direction which) {
    const std::scoped_lock lock(mutex_);
    return meter(which).passed_bytes;
}

void tcp_proxy::accept_one() {
    const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) {
        return;
    }
    send_at_once(client);
    const int server = refusing_ ? -1 : connect_to(target_port_);
    if (server < 0) {
        reset(client);
        return;
    }
    connections_.emplace_back(client, server).to_server.change_first(first_words_);
}

/// Reads and writes what can be read and written now. False if the connection is over.
bool tcp_proxy::serve(connection& link) {
    const auto now = std::chrono::steady_clock::now();
    for (const auto which : {direction::to_server, direction::to_client}) {
        auto& flow = which == direction::to_server ? link.to_server : link.to_client;
        const bool alive = (!flow.wants_to_read(rules(which)) || flow.read_some(now)) &&
                           flow.write_some(rules(which), meter(which), random_, now);
        if (!alive) {
            if (meter(which).due()) {
                meter(which).cut_at.reset();
            }
            return false;
        }
    }
    return !link.to_server.finished() || !link.to_client.finished();
}

std::vector<pollfd> tcp_proxy::interests(int& timeout_milliseconds) {
    constexpr int rarely = 1000;
    const auto now = std::chrono::steady_clock::now();
    std::vector<pollfd> result{{listener_, POLLIN, 0}, {wake_, POLLIN, 0}};
    timeout_milliseconds = rarely;
    const auto wish = [&](int handle, bool read, bool write) {
        const auto events = (read ? POLLIN : 0) | (write ? POLLOUT : 0);
        if (events != 0) {
            result.push_back({handle, static_cast<short>(events), 0});
        }
    };
    const auto& up = rules(direction::to_server);
    const auto& down = rules(direction::to_client);
    for (const auto& link : connections_) {
        wish(link.client, link.to_server.wants_to_read(up),
             link.to_client.wants_to_write(down, now));
        wish(link.server, link.to_client.wants_to_read(down),
             link.to_server.wants_to_write(up, now));
        if (link.to_server.waits_for_time(up) || link.to_client.waits_for_time(down)) {
            timeout_milliseconds = 1;
        }
    }
    return result;
}

void tcp_proxy::work() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
        int timeout_milliseconds = 0;
        auto handles = interests(timeout_milliseconds);
        lock.unlock();
        poll(handles.data(), handles.size(), timeout_milliseconds);
        lock.lock();
        eventfd_t ignored = 0;
        (void)eventfd_read(wake_, &ignored);
        accept_one();
        for (auto link = connections_.begin(); link != connections_.end();) {
            if (serve(*link)) {
                ++link;
            } else {
                link->reset_both();
                link = connections_.erase(link);
            }
        }
    }
}

}  // namespace walrelay::chaos
