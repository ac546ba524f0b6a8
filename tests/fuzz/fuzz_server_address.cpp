// Any address is taken apart or refused, no text about it holds its password, and a host is fit to
// be looked up.
#include "fuzz/require.hpp"
#include "nats/session/server_address.hpp"

#include <fuzzer/FuzzedDataProvider.h>

#include <string>

namespace {

using namespace walrelay;
using fuzz::require;

constexpr std::string_view password = "p4ssw0rd";

bool holds_password(std::string_view text) {
    return text.find(password) != std::string_view::npos;
}

void check_address(const std::string& url) {
    const auto server = nats::parse_server_address(url);
    if (server) {
        require(!server->host.empty() && !server->port.empty(), "a server has a host and a port");
        require(fuzz::is_printable(to_string(*server)), "a host has no control characters");
    } else {
        require(server.error().code == errc::broker_unsuitable, "one kind of error");
    }
}

void check_password(const std::string& url) {
    require(!holds_password(nats::without_password(url)), "the password is left out");
    const auto server = nats::parse_server_address(url);
    require(!holds_password(server ? to_string(*server) : to_string(server.error())),
            "neither address nor error shows the password");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    FuzzedDataProvider input(data, size);
    const auto before = input.ConsumeRandomLengthString();
    const auto behind = input.ConsumeRemainingBytesAsString();
    check_address(before + behind);
    if (!holds_password(before) && !holds_password(behind)) {
        check_password(before + "me:" + std::string(password) + "@" + behind);
    }
    return 0;
}
