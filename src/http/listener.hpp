// The port on which the relay answers: taken once at the start of the process, and kept until its
// end, whatever becomes of the relay in between.
#pragma once

#include "core/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace walrelay::http {

class listener {
public:
    /// `address` is an IP address and a port, as in 127.0.0.1:8460 or [::1]:8460; port 0 takes any
    /// that is free. errc::configuration_invalid where it cannot be had.
    [[nodiscard]] static result<listener> open(std::string_view address);

    listener(const listener&) = delete;
    listener& operator=(const listener&) = delete;
    listener(listener&& other) noexcept;
    listener& operator=(listener&&) = delete;
    ~listener();

    /// As it was taken: with the port that was found for 0.
    [[nodiscard]] const std::string& address() const { return address_; }
    [[nodiscard]] bool is_loopback() const { return loopback_; }
    [[nodiscard]] bool is_v6() const { return v6_; }
    /// Another descriptor of the same socket, for an acceptor that closes it. Throws
    /// std::system_error.
    [[nodiscard]] int duplicate() const;

private:
    listener() = default;

    int descriptor_ = -1;
    std::string address_;
    bool loopback_ = false;
    bool v6_ = false;
};

}  // namespace walrelay::http
