// Where a collector of traces takes them: an http or https URL, in its parts.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace walrelay {

struct collector_url {
    bool is_tls = false;
    /// A name or an IP address; of IPv6 without brackets.
    std::string host;
    std::string port;
    /// `/v1/traces` where the URL has no path of its own.
    std::string path;

    friend bool operator==(const collector_url&, const collector_url&) = default;
};

/// "collector:4318": what the header Host says, and what an error names.
[[nodiscard]] std::string authority_of(const collector_url& url);

/// `http://host[:port][/path]`, the same with https. The ports are 80 and 443 where none is named,
/// as everywhere. Nothing where it is anything else: with a user, a password, a query or a fragment
/// it could hold a secret, and headers are the place for those.
[[nodiscard]] std::optional<collector_url> parse_collector_url(std::string_view text);

}  // namespace walrelay
