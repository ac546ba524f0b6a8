#include "nats/session/server_address.hpp"

#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

#include <algorithm>

namespace walrelay::nats {
namespace {

namespace urls = boost::urls;

constexpr std::string_view scheme_letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// Where what was percent-encoded is a control character, it would be cut short at a NUL.
bool has_control(std::string_view host) {
    return std::ranges::any_of(host, [](char each) {
        const auto byte = static_cast<unsigned char>(each);
        return byte < ' ' || byte == 0x7F;
    });
}

error not_an_address(std::string_view url) {
    return {
        errc::broker_unsuitable, "nats.urls cannot be used: " + without_password(url),
        "write it like nats://host:4222 or tls://host:4222; in a user or password percent-encode "
        "what is neither letter nor digit"};
}

}  // namespace

result<server_address> parse_server_address(std::string_view url) {
    const bool tls = url.starts_with("tls://");
    // Asked first: Boost 1.81 asserts that no single odd character follows a scheme's colon.
    if (!tls && !url.starts_with("nats://")) {
        return not_an_address(url);
    }
    const auto parsed = urls::parse_uri(url);
    // What follows the first @ would be the host, which every error names.
    if (!parsed || std::ranges::count(url, '@') > 1) {
        return not_an_address(url);
    }
    server_address server;
    server.host = parsed->host_address();
    if (server.host.empty() || has_control(server.host)) {
        return not_an_address(url);
    }
    server.port = parsed->port().empty() ? "4222" : std::string(parsed->port());
    server.tls = tls;
    if (parsed->has_password()) {
        server.user = parsed->user();
        server.password = parsed->password();
    } else {
        server.token = parsed->user();
    }
    return server;
}

std::string to_string(const server_address& server) {
    const bool ipv6 = server.host.find(':') != std::string::npos;
    return (ipv6 ? "[" + server.host + "]" : server.host) + ":" + server.port;
}

std::string without_password(std::string_view url) {
    const auto at = url.rfind('@');
    if (at == std::string_view::npos) {
        return std::string(url);
    }
    // Slashes that stand elsewhere are of the password, or after it.
    const auto scheme = url.substr(0, url.find_first_not_of(scheme_letters));
    constexpr std::string_view mark = "://";
    const bool has_scheme = url.substr(scheme.size()).starts_with(mark);
    const auto kept = has_scheme ? scheme.size() + mark.size() : 0;
    return std::string(url.substr(0, kept)) + std::string(url.substr(at + 1));
}

}  // namespace walrelay::nats
