#include "nats/connect_call.hpp"

#include "nats/authentication.hpp"
#include "nats/stream_reader.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace walrelay::nats {
namespace {

std::string join(const std::vector<std::string>& urls) {
    std::string joined;
    for (const auto& url : urls) {
        // What stands between "//" and "@" may be a password.
        const auto at = url.rfind('@');
        const auto scheme = url.find("//");
        joined += joined.empty() ? "" : ", ";
        joined += at == std::string::npos || scheme == std::string::npos
                      ? url
                      : url.substr(0, scheme + 2) + url.substr(at + 1);
    }
    return joined;
}

natsStatus set_common_options(natsOptions* options, const connect_options& from) {
    constexpr std::int64_t ping_interval_ms = 5000;
    constexpr std::int64_t write_deadline_ms = 5000;
    constexpr int pings_out = 2;
    constexpr int buffer_bytes = 256 * 1024;
    std::vector<const char*> urls;
    urls.reserve(from.urls.size());
    for (const auto& url : from.urls) {
        urls.push_back(url.c_str());
    }
    natsOptions_SetAllowReconnect(options, false);
    natsOptions_SetPingInterval(options, ping_interval_ms);
    natsOptions_SetMaxPingsOut(options, pings_out);
    natsOptions_SetWriteDeadline(options, write_deadline_ms);
    natsOptions_SetIOBufSize(options, buffer_bytes);
    natsOptions_SetSendAsap(options, true);
    natsOptions_UseOldRequestStyle(options, true);
    natsOptions_SetTimeout(options, from.timeout.count());
    natsOptions_SetName(options, "walrelay");
    return natsOptions_SetServers(options, urls.data(), static_cast<int>(urls.size()));
}

}  // namespace

error unavailable(std::string what, natsStatus status) {
    return {errc::broker_unavailable, std::move(what), "", last_error_text(status)};
}

result<options_handle> prepare_connect(const connect_options& from) {
    natsOptions* raw = nullptr;
    natsOptions_Create(&raw);
    options_handle prepared(raw);
    const auto status = set_common_options(raw, from);
    if (status != NATS_OK) {
        return error{errc::broker_unsuitable, "nats.urls cannot be used: " + join(from.urls),
                     "write them like nats://host:4222", last_error_text(status)};
    }
    if (auto known = authenticate(raw, from); !known) {
        return known.error();
    }
    return prepared;
}

error connect_failure(natsStatus status, const connect_options& options) {
    const bool refused = status == NATS_CONNECTION_AUTH_FAILED || status == NATS_NOT_PERMITTED;
    auto failure = unavailable("the broker at " + join(options.urls) +
                                   (refused ? " refuses the log-in" : " cannot be reached"),
                               status);
    if (refused) {
        failure.remedy =
            "check nats.credentials, nats.nkey_seed, nats.user or nats.token_file "
            "against the server's accounts";
    }
    return failure;
}

}  // namespace walrelay::nats
