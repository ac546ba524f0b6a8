#include "nats/requests/connect_call.hpp"

#include "nats/requests/stream_reader.hpp"
#include "nats/session/connect_error.hpp"
#include "nats/session/inbox.hpp"

#include <cstdint>
#include <string>
#include <utility>

namespace walrelay::nats {
namespace {

/// Without a handler the library prints what we report ourselves.
void ignore_event(natsConnection* /*of*/, natsSubscription* /*on*/, natsStatus /*what*/,
                  void* /*closure*/) {}

natsStatus set_options(natsOptions* options, const connect_options& from,
                       const request_tunnel& over) {
    constexpr std::int64_t ping_interval_ms = 5000;
    constexpr std::int64_t write_deadline_ms = 5000;
    constexpr int pings_out = 2;
    natsOptions_SetAllowReconnect(options, false);
    natsOptions_SetPingInterval(options, ping_interval_ms);
    natsOptions_SetMaxPingsOut(options, pings_out);
    natsOptions_SetWriteDeadline(options, write_deadline_ms);
    natsOptions_SetSendAsap(options, true);
    natsOptions_UseOldRequestStyle(options, true);
    natsOptions_SetTimeout(options, from.timeout.count());
    natsOptions_SetErrorHandler(options, ignore_event, nullptr);
    natsOptions_SetToken(options, over.token().c_str());
    // The library's own inboxes can be foretold from one to the next.
    const auto inboxes = from.inbox_prefix + "." + new_secret_word();
    if (const auto set = natsOptions_SetCustomInboxPrefix(options, inboxes.c_str());
        set != NATS_OK) {
        return set;
    }
    return natsOptions_SetURL(options, over.url().c_str());
}

/// The tunnel stands, so the servers can be reached, and the options are walrelay's own.
bool is_of_this_process(natsStatus status) {
    return status == NATS_NO_MEMORY || status == NATS_SYS_ERROR || status == NATS_INVALID_ARG ||
           status == NATS_NOT_INITIALIZED || status == NATS_FAILED_TO_INITIALIZE;
}

}  // namespace

error unavailable(std::string what, natsStatus status) {
    return with_last_error({errc::broker_unavailable, std::move(what)}, status);
}

error no_answer_of_jetstream(const std::string& about) {
    return {
        errc::broker_unavailable,
        "the answer about " + about + " is none of JetStream's: it does not say how that is set up",
        "see who may subscribe to $JS.API.> (or to the subjects of nats.api_prefix): nobody "
        "but the servers answers there"};
}

result<connection_handle> connect_blocking(const connect_options& to) {
    auto over = request_tunnel::open(to);
    if (!over) {
        return over.error();
    }
    natsOptions* raw_options = nullptr;
    auto status = natsOptions_Create(&raw_options);
    const options_handle prepared(raw_options);
    natsConnection* raw = nullptr;
    status = status == NATS_OK ? set_options(raw_options, to, **over) : status;
    status = status == NATS_OK ? natsConnection_Connect(&raw, raw_options) : status;
    if (is_of_this_process(status)) {
        return lacks_resources(last_error_text(status));
    }
    if (status != NATS_OK) {
        return unreachable(to, last_error_text(status));
    }
    return connection_handle(std::move(*over), raw);
}

std::optional<std::string> refusal_of(natsConnection* connection) {
    const char* said = nullptr;
    if (natsConnection_GetLastError(connection, &said) != NATS_NOT_PERMITTED) {
        return std::nullopt;
    }
    return said == nullptr ? "" : said;
}

error cause_of(natsConnection* connection, const connect_options& options, const error& failure) {
    if (auto said = refusal_of(connection)) {
        return not_permitted(options, std::move(*said));
    }
    const char* words = nullptr;
    natsConnection_GetLastError(connection, &words);
    if (words != nullptr && is_about_a_line(words)) {
        return line_too_long("walrelay's requests to JetStream", words);
    }
    return failure;
}

}  // namespace walrelay::nats
