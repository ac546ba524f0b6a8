// See free_port.hpp.
#include "support/free_port.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace walrelay::test {
namespace {

/// 0 if the kernel refuses, with errno set.
std::uint16_t port_that_the_kernel_picks(int handle) {
    sockaddr_storage storage{};
    auto* address = reinterpret_cast<sockaddr*>(&storage);
    auto* loopback = reinterpret_cast<sockaddr_in*>(&storage);
    loopback->sin_family = AF_INET;
    loopback->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(sockaddr_in);
    if (bind(handle, address, length) != 0 || getsockname(handle, address, &length) != 0) {
        return 0;
    }
    return ntohs(loopback->sin_port);
}

}  // namespace

std::uint16_t free_port() {
    const int handle = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const std::uint16_t port = handle < 0 ? std::uint16_t{0} : port_that_the_kernel_picks(handle);
    const int reason = errno;
    if (handle >= 0) {
        close(handle);
    }
    if (port == 0) {
        throw std::system_error(reason, std::generic_category(), "no free port");
    }
    return port;
}

}  // namespace walrelay::test
