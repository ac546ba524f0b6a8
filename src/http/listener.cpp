#include "http/listener.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

namespace walrelay::http {
namespace {

using boost::asio::ip::tcp;

std::optional<tcp::endpoint> endpoint_in(std::string_view address) {
    const auto colon = address.rfind(':');
    if (colon == std::string_view::npos) {
        return std::nullopt;
    }
    auto host = address.substr(0, colon);
    const auto port = address.substr(colon + 1);
    const bool in_brackets = host.size() > 2 && host.starts_with('[') && host.ends_with(']');
    if (in_brackets) {
        host = host.substr(1, host.size() - 2);
    }
    std::uint16_t number = 0;
    const auto read = std::from_chars(port.data(), port.data() + port.size(), number);
    boost::system::error_code failure;
    const auto ip = boost::asio::ip::make_address(std::string(host), failure);
    const bool fits = !failure && ip.is_v6() == in_brackets && !port.empty() &&
                      read.ec == std::errc() && read.ptr == port.data() + port.size();
    return fits ? std::optional(tcp::endpoint(ip, number)) : std::nullopt;
}

std::string text_of(const tcp::endpoint& at) {
    const auto ip = at.address().to_string();
    return (at.address().is_v6() ? "[" + ip + "]" : ip) + ":" + std::to_string(at.port());
}

error cannot_listen(std::string_view address, const boost::system::error_code& why) {
    error failure{errc::configuration_invalid,
                  "http.listen: " + std::string(address) + " cannot be used: " + why.message()};
    if (why == boost::asio::error::address_in_use) {
        failure.remedy =
            "choose another port (http.listen), or end the process that has this one, which can be "
            "another walrelay; http.listen = \"off\" does without";
    } else {
        failure.remedy = "use an address of this machine and a port from 1024 on (http.listen)";
    }
    return failure;
}

}  // namespace

result<listener> listener::open(std::string_view address) {
    const auto at = endpoint_in(address);
    if (!at) {
        return error{
            errc::configuration_invalid,
            "http.listen: \"" + std::string(address) + "\" is not an IP address with a port",
            "write it as \"127.0.0.1:8460\" or \"[::1]:8460\", or \"off\""};
    }
    boost::asio::io_context io(1);
    tcp::acceptor acceptor(io);
    boost::system::error_code failure;
    acceptor.open(at->protocol(), failure);
    if (!failure) {
        acceptor.set_option(tcp::acceptor::reuse_address(true), failure);
    }
    if (!failure) {
        acceptor.bind(*at, failure);
    }
    if (!failure) {
        acceptor.listen(tcp::acceptor::max_listen_connections, failure);
    }
    if (failure) {
        return cannot_listen(address, failure);
    }
    listener made;
    made.address_ = text_of(acceptor.local_endpoint());
    made.loopback_ = at->address().is_loopback();
    made.v6_ = at->address().is_v6();
    made.descriptor_ = acceptor.release();
    return made;
}

listener::listener(listener&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      address_(std::move(other.address_)),
      loopback_(other.loopback_),
      v6_(other.v6_) {}

listener::~listener() {
    if (descriptor_ >= 0) {
        ::close(descriptor_);
    }
}

int listener::duplicate() const {
    const int copy = ::fcntl(descriptor_, F_DUPFD_CLOEXEC, 0);
    if (copy < 0) {
        throw std::system_error(errno, std::generic_category(), "fcntl(F_DUPFD_CLOEXEC)");
    }
    return copy;
}

}  // namespace walrelay::http
