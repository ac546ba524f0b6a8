#include "nats/connect_call.hpp"

#include "nats/authentication.hpp"
#include "nats/connect_error.hpp"
#include "nats/stream_reader.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace walrelay::nats {
namespace {

/// Without a handler the library prints what we report ourselves.
void ignore_event(natsConnection* /*of*/, natsSubscription* /*on*/, natsStatus /*what*/,
                  void* /*closure*/) {}

natsStatus set_common_options(natsOptions* options, const connect_options& from) {
    constexpr std::int64_t ping_interval_ms = 5000;
    constexpr std::int64_t write_deadline_ms = 5000;
    constexpr int pings_out = 2;
    std::vector<const char*> urls;
    urls.reserve(from.urls.size());
    for (const auto& url : from.urls) {
        urls.push_back(url.c_str());
    }
    natsOptions_SetAllowReconnect(options, false);
    natsOptions_SetPingInterval(options, ping_interval_ms);
    natsOptions_SetMaxPingsOut(options, pings_out);
    natsOptions_SetWriteDeadline(options, write_deadline_ms);
    natsOptions_SetSendAsap(options, true);
    natsOptions_UseOldRequestStyle(options, true);
    natsOptions_SetTimeout(options, from.timeout.count());
    natsOptions_SetName(options, "walrelay");
    if (const auto set = natsOptions_SetCustomInboxPrefix(options, from.inbox_prefix.c_str());
        set != NATS_OK) {
        return set;
    }
    return natsOptions_SetServers(options, urls.data(), static_cast<int>(urls.size()));
}

}  // namespace

error unavailable(std::string what, natsStatus status) {
    return {errc::broker_unavailable, std::move(what), "", last_error_text(status)};
}

result<connection_handle> connect_blocking(const connect_options& to) {
    natsOptions* raw_options = nullptr;
    natsOptions_Create(&raw_options);
    const options_handle prepared(raw_options);
    if (const auto status = set_common_options(raw_options, to); status != NATS_OK) {
        auto failure = unreachable(to, last_error_text(status));
        failure.code = errc::broker_unsuitable;
        failure.remedy = "write nats.urls like nats://host:4222";
        return failure;
    }
    if (auto known = authenticate(raw_options, to); !known) {
        return known.error();
    }
    natsOptions_SetErrorHandler(raw_options, ignore_event, nullptr);
    natsConnection* raw = nullptr;
    const auto status = natsConnection_Connect(&raw, raw_options);
    if (status == NATS_OK) {
        return connection_handle(raw);
    }
    if (status == NATS_SSL_ERROR || status == NATS_SECURE_CONNECTION_WANTED) {
        return without_tls(to, last_error_text(status));
    }
    const bool refused = status == NATS_CONNECTION_AUTH_FAILED || status == NATS_NOT_PERMITTED;
    return refused ? log_in_refused(to, last_error_text(status))
                   : unreachable(to, last_error_text(status));
}

std::optional<std::string> refusal_of(natsConnection* connection) {
    const char* said = nullptr;
    if (natsConnection_GetLastError(connection, &said) != NATS_NOT_PERMITTED) {
        return std::nullopt;
    }
    return said == nullptr ? "" : said;
}

}  // namespace walrelay::nats
