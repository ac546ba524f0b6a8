#include "core/collector_url.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>

namespace walrelay {
namespace {

/// What a collector listens to by itself. Source: OpenTelemetry Protocol Specification, "OTLP/HTTP
/// Request".
constexpr std::string_view default_path = "/v1/traces";

bool is_letter_or_digit(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_name(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) {
        return is_letter_or_digit(c) || c == '-' || c == '.' || c == '_';
    });
}

bool is_v6_address(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') ||
               c == ':' || c == '.';
    });
}

bool is_port(std::string_view text) {
    std::uint16_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [stopped, failure] = std::from_chars(text.data(), end, number);
    return failure == std::errc() && stopped == end && number > 0;
}

/// Printable, without a query or a fragment. Source: RFC 3986, section 3.3.
bool is_path(std::string_view text) {
    return std::ranges::all_of(
        text, [](char c) { return c > ' ' && c < '\x7f' && c != '?' && c != '#'; });
}

bool take(std::string_view& from, std::string_view prefix) {
    if (!from.starts_with(prefix)) {
        return false;
    }
    from.remove_prefix(prefix.size());
    return true;
}

/// Host and port; false where they are none.
bool read_authority(std::string_view text, collector_url& into) {
    const bool is_v6 = text.starts_with('[');
    const auto end = is_v6 ? text.find(']') : text.find(':');
    const auto host = text.substr(is_v6 ? 1 : 0, end - (is_v6 ? 1 : 0));
    if (!(is_v6 ? end != std::string_view::npos && is_v6_address(host) : is_name(host))) {
        return false;
    }
    into.host = host;
    auto rest = end == std::string_view::npos ? "" : text.substr(end + (is_v6 ? 1 : 0));
    into.port = into.is_tls ? "443" : "80";
    if (rest.empty()) {
        return true;
    }
    if (!take(rest, ":") || !is_port(rest)) {
        return false;
    }
    into.port = rest;
    return true;
}

}  // namespace

std::string authority_of(const collector_url& url) {
    const bool is_v6 = url.host.find(':') != std::string::npos;
    return (is_v6 ? '[' + url.host + ']' : url.host) + ':' + url.port;
}

std::optional<collector_url> parse_collector_url(std::string_view text) {
    collector_url found;
    found.is_tls = take(text, "https://");
    if (!found.is_tls && !take(text, "http://")) {
        return std::nullopt;
    }
    const auto slash = std::min(text.find('/'), text.size());
    const auto path = text.substr(slash);
    if (!read_authority(text.substr(0, slash), found) || !is_path(path)) {
        return std::nullopt;
    }
    found.path = path.size() > 1 ? path : default_path;
    return found;
}

}  // namespace walrelay
