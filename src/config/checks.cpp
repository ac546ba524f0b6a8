// What one setting's text must look like so that the two servers take it.
#include "config/checks.hpp"

#include "config/quote.hpp"
#include "core/ascii.hpp"
#include "core/collector_url.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <system_error>

namespace walrelay::config {
namespace {

constexpr std::string_view lower_case = "abcdefghijklmnopqrstuvwxyz";
constexpr std::string_view upper_case = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
constexpr std::string_view digits = "0123456789";
constexpr std::string_view prefix_marks = "_-./";
constexpr std::string_view token_marks = "!#$%&'*+-.^_`|~";  // RFC 7230

/// Of characters of these sets alone, and not empty.
bool made_of(std::string_view text, std::initializer_list<std::string_view> sets) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
        return std::any_of(sets.begin(), sets.end(), [&](std::string_view set) {
            return set.find(c) != std::string_view::npos;
        });
    });
}

/// Whether a blank or a control character is in it; bytes of UTF-8 are neither.
bool has_blank(std::string_view text) {
    return std::any_of(text.begin(), text.end(), [](char c) {
        return static_cast<unsigned char>(c) <= 0x20U || c == '\x7f';
    });
}

bool is_subject_token(std::string_view token, bool last) {
    return token == "*" || (token == ">" && last) ||
           (!token.empty() && token.find_first_of("*>") == std::string_view::npos &&
            !has_blank(token));
}

bool is_subject(std::string_view rest) {
    while (true) {
        const std::size_t dot = rest.find('.');
        const bool last = dot == std::string_view::npos;
        if (!is_subject_token(rest.substr(0, dot), last)) {
            return false;
        }
        if (last) {
            return true;
        }
        rest.remove_prefix(dot + 1);
    }
}

/// Nothing where all is well.
std::optional<complaint> unless(bool well, const std::string& text, const char* is_not,
                                const char* remedy) {
    return well ? std::nullopt : std::optional(complaint{in_quotes(text) + is_not, remedy});
}

bool is_port(std::string_view text) {
    std::uint16_t port = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), port);
    return made_of(text, {digits}) && read.ec == std::errc();
}

}  // namespace

std::optional<complaint> check_nothing(const std::string&) {
    return std::nullopt;
}

std::optional<complaint> check_not_empty(const std::string& text) {
    return text.empty() ? std::optional(complaint{"is empty", "write a name, or remove the key"})
                        : std::nullopt;
}

std::optional<complaint> check_slot(const std::string& text) {
    return unless(text.size() <= 63 && made_of(text, {lower_case, digits, "_"}), text,
                  " is not the name of a replication slot",
                  "write 1 to 63 of the characters a-z, 0-9 and _");
}

std::optional<complaint> check_publication(const std::string& text) {
    return unless(!text.empty() && text.size() <= 63, text, " is not the name of a publication",
                  "write 1 to 63 bytes");
}

std::optional<complaint> check_stream(const std::string& text) {
    const bool well = !text.empty() && text.size() <= 255 && !has_blank(text) &&
                      text.find_first_of(".*>/\\") == std::string::npos;
    return unless(well, text, " is not the name of a stream",
                  "write a name without blanks, dots, *, > and slashes, such as \"OUTBOX\"");
}

std::optional<complaint> check_subject(const std::string& text) {
    return unless(is_subject(text), text, " is not a subject",
                  "write tokens with dots between, such as \"events.>\"");
}

std::optional<complaint> check_inbox_prefix(const std::string& text) {
    // It is part of each publish's protocol line, for which the server has 4 KiB.
    constexpr std::size_t longest = 255;
    const bool well = is_subject(text) && !text.starts_with('$') && text.size() <= longest &&
                      text.find_first_of("*>") == std::string::npos;
    return unless(well, text, " is not what subjects can begin with",
                  "write tokens with dots between, without * and >, at most 255 bytes, such as "
                  "\"_INBOX_relay\"");
}

std::optional<complaint> check_domain(const std::string& text) {
    const bool well = text.empty() || (is_subject_token(text, false) && text != "*" &&
                                       text.find('.') == std::string::npos);
    return unless(well, text, " is not the name of a JetStream domain",
                  "write the domain alone, as it stands in nats-server.conf, such as \"hub\"");
}

std::optional<complaint> check_api_prefix(const std::string& text) {
    const bool well =
        text.empty() || (is_subject(text) && text.find_first_of("*>") == std::string::npos);
    return unless(well, text, " is not what subjects can begin with",
                  "write tokens with dots between, without * and > and without a dot at the end, "
                  "such as \"$JS.hub.API\"");
}

std::optional<complaint> check_context(const std::string& text) {
    const bool well = text.find('/') == std::string::npos && text.find("..") == std::string::npos;
    return unless(well, text, " is not the name of a context",
                  "write a name that nats context ls shows");
}

std::optional<complaint> check_message_prefix(const std::string& text) {
    if (text.starts_with("walrelay.")) {
        return complaint{"prefixes that begin with walrelay. are reserved", "choose another one"};
    }
    const bool well =
        text.empty() ||
        (text.size() <= 63 && made_of(text, {lower_case, upper_case, digits, prefix_marks}));
    return unless(well, text, " is not a prefix that walrelay takes",
                  "write 1 to 63 letters, digits, _, -, . and /, such as \"walrelay\"");
}

std::optional<complaint> check_url(const std::string& text) {
    if (std::ranges::count(text, '@') > 1) {
        // Everything behind the first would be taken for the host, and errors name that.
        return complaint{"an address has an @ in its user or password",
                         "write it as %40 there, or use nats.user with nats.password_file"};
    }
    const auto has_host_after = [&](std::string_view scheme) {
        return text.starts_with(scheme) && text.size() > scheme.size();
    };
    if ((has_host_after("nats://") || has_host_after("tls://")) && !has_blank(text)) {
        return std::nullopt;
    }
    return complaint{"an address is not of the form nats://host:port or tls://host:port",
                     "write it like nats://127.0.0.1:4222, without blanks"};
}

std::optional<complaint> check_header_name(const std::string& text) {
    if (!made_of(text, {lower_case, upper_case, digits, token_marks})) {
        return complaint{"is not the name of a header",
                         "write letters, digits and hyphens, such as \"Correlation-Id\""};
    }
    const auto lowered = lower(text);
    if (lowered.starts_with("nats-") || lowered.starts_with("walrelay-")) {
        return complaint{"names that begin with Nats- or Walrelay- are reserved",
                         "choose another name"};
    }
    return std::nullopt;
}

std::optional<complaint> check_request_header(const std::string& name, const std::string& text) {
    if (!made_of(name, {lower_case, upper_case, digits, token_marks})) {
        return complaint{"is not the name of a header",
                         "write letters, digits and hyphens, such as \"Authorization\""};
    }
    const auto lowered = lower(name);
    for (const std::string_view own : {"host", "content-type", "content-length", "content-encoding",
                                       "transfer-encoding", "connection"}) {
        if (lowered == own) {
            return complaint{"is a header that walrelay sets itself", "remove it"};
        }
    }
    const bool is_printable = std::ranges::none_of(
        text, [](char c) { return static_cast<unsigned char>(c) < 0x20U || c == '\x7f'; });
    if (!is_printable) {
        return complaint{"its value has a control character", "write it on one line"};
    }
    return std::nullopt;
}

std::optional<complaint> check_collector(const std::string& text) {
    if (text.empty() || parse_collector_url(text)) {
        return std::nullopt;
    }
    return complaint{"is not an address of a collector",
                     "write it like \"http://127.0.0.1:4318\", with https:// for TLS, and secrets "
                     "in traces.headers"};
}

std::optional<complaint> check_listen(const std::string& text) {
    const auto colon = text.rfind(':');
    const std::string_view host = std::string_view(text).substr(0, colon);
    const bool is_v6 = host.size() > 2 && host.starts_with('[') && host.ends_with(']') &&
                       made_of(host.substr(1, host.size() - 2), {digits, "abcdefABCDEF:."});
    const bool is_address = is_v6 || made_of(host, {digits, "."});
    if (text == "off" ||
        (colon != std::string::npos && is_address && is_port(text.substr(colon + 1)))) {
        return std::nullopt;
    }
    return complaint{in_quotes(text) + " is not an IP address with a port",
                     "write it like \"127.0.0.1:8460\" or \"[::1]:8460\", or \"off\""};
}

std::optional<complaint> check_host(const std::string& text) {
    if (made_of(text, {lower_case, upper_case, digits, "-._"})) {
        return std::nullopt;
    }
    return complaint{in_quotes(text) + " is not the name of a host",
                     "write the name alone, without a scheme and without a port, such as "
                     "\"relay.internal\""};
}

}  // namespace walrelay::config
