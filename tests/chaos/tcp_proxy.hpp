// A faulty network between the relay and one of its servers: a TCP proxy that can delay, throttle,
// slice, swallow, half-close and reset. Knows no protocol: what a client says first can be changed
// by somebody who does.
#pragma once

#include "chaos/proxy_flow.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct pollfd;

namespace walrelay::chaos {

enum class direction : std::uint8_t { to_server, to_client };

/// Listens on a free port of the loopback interface from its construction on. All functions may be
/// called from any thread.
class tcp_proxy {
public:
    /// What a client says first.
    using change_of_words = std::function<std::string(std::string)>;

    /// `first_words` changes what each client says first. Throws std::system_error.
    explicit tcp_proxy(std::uint16_t target_port, change_of_words first_words = {});
    ~tcp_proxy();
    tcp_proxy(const tcp_proxy&) = delete;
    tcp_proxy& operator=(const tcp_proxy&) = delete;

    [[nodiscard]] std::uint16_t port() const { return port_; }

    /// Also for the connections that are there.
    void set(direction which, const link_rules& wanted);
    /// A healthy link again; connections stay.
    void heal();
    /// Every connection ends with a reset.
    void reset_all();
    /// The same, and new ones are reset at once for as long as it is true.
    void refuse(bool refusing);
    /// The receiver of that direction sees an orderly end on every connection; the other direction
    /// goes on.
    void half_close_all(direction which);

    /// Counts from zero again, and once that many more bytes have passed in that direction, over
    /// however many connections, resets the connection in which the last of them went; once only.
    void cut_after(direction which, std::uint64_t bytes);
    /// Whether the cut is still to come.
    [[nodiscard]] bool cut_pending(direction which);
    /// Takes the cut back, and counts from zero again.
    void restart_count();
    [[nodiscard]] std::uint64_t passed_bytes(direction which);

private:
    struct connection;

    void work();
    [[nodiscard]] std::vector<pollfd> interests(int& timeout_milliseconds);
    void accept_one();
    [[nodiscard]] bool serve(connection& link);
    void wake() const;
    [[nodiscard]] link_rules& rules(direction which);
    [[nodiscard]] link_meter& meter(direction which);

    std::uint16_t target_port_;
    change_of_words first_words_;
    std::uint16_t port_ = 0;
    int listener_ = -1;
    int wake_ = -1;
    std::mutex mutex_;
    bool stopping_ = false;
    bool refusing_ = false;
    std::array<link_rules, 2> rules_;
    std::array<link_meter, 2> meters_;
    std::list<connection> connections_;
    dice random_{1};
    std::thread thread_;
};

}  // namespace walrelay::chaos
