// The keys of [http].
#include "config/key_makers.hpp"
#include "config/sections.hpp"

#include <charconv>
#include <cstdint>
#include <string_view>

namespace walrelay::config {
namespace {

bool consists_of(std::string_view text, std::string_view characters) {
    return !text.empty() && text.find_first_not_of(characters) == std::string_view::npos;
}

bool is_port(std::string_view text) {
    std::uint16_t port = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), port);
    return consists_of(text, "0123456789") && read.ec == std::errc();
}

/// Whether the address is one of this machine is found out when it is used.
std::optional<complaint> check_listen(const std::string& text) {
    const auto colon = text.rfind(':');
    const std::string_view host = std::string_view(text).substr(0, colon);
    const bool is_v6 = host.size() > 2 && host.starts_with('[') && host.ends_with(']') &&
                       consists_of(host.substr(1, host.size() - 2), "0123456789abcdefABCDEF:.");
    const bool is_address = is_v6 || consists_of(host, "0123456789.");
    if (text == "off" ||
        (colon != std::string::npos && is_address && is_port(text.substr(colon + 1)))) {
        return std::nullopt;
    }
    return complaint{quoted(text) + " is no IP address with a port",
                     "write it like \"127.0.0.1:8460\" or \"[::1]:8460\", or \"off\""};
}

std::optional<complaint> check_host(const std::string& text) {
    constexpr std::string_view characters =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._";
    if (consists_of(text, characters)) {
        return std::nullopt;
    }
    return complaint{quoted(text) + " is no name of a host",
                     "write the name alone, without a scheme and without a port, such as "
                     "\"relay.internal\""};
}

}  // namespace

std::vector<key> http_keys() {
    return {
        text_key(
            {"http", "listen", "",
             "IP address and port on which `walrelay run` answers: the dashboard, health, "
             "status and metrics, see [monitoring.md](monitoring.md). Whoever reaches it can "
             "read them, and nobody can change anything there. Port 0 takes any that is free, "
             "which the log names; `\"off\"` opens none."},
            [](const destination& to) -> std::string& { return to.all.http.listen; }, check_listen),
        list_key(
            {"http", "hosts", "",
             "Names under which it may be asked, besides IP addresses and `localhost`. "
             "Requests that name another host are refused."},
            [](const destination& to) -> std::vector<std::string>& { return to.all.http.hosts; },
            check_host),
    };
}

}  // namespace walrelay::config
