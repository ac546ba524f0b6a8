#include "nats/requests/account_info.hpp"

#include <simdjson.h>

#include <string>

namespace walrelay::nats {
namespace {

std::optional<std::int64_t> number_in(const simdjson::dom::object& from, std::string_view name) {
    std::int64_t number = 0;
    return from[name].get(number) == simdjson::SUCCESS ? std::optional(number) : std::nullopt;
}

/// A limit that is no limit where it is 0.
std::int64_t positive_in(const simdjson::dom::object& from, std::string_view name) {
    const auto number = number_in(from, name).value_or(-1);
    return number > 0 ? number : -1;
}

/// `tier`: of a tier, or of an account without any.
std::optional<account_limits> limits_of(const simdjson::dom::object& tier) {
    simdjson::dom::object limits;
    if (tier["limits"].get(limits) != simdjson::SUCCESS) {
        return std::nullopt;
    }
    account_limits told;
    told.streams_max = positive_in(limits, "max_streams");
    told.streams = number_in(tier, "streams").value_or(0);
    told.consumers_max = positive_in(limits, "max_consumers");
    // An account without any room on disk has 0.
    told.storage_max = number_in(limits, "max_storage").value_or(-1);
    told.storage = static_cast<std::uint64_t>(number_in(tier, "storage").value_or(0));
    if (const auto reserved = number_in(tier, "reserved_storage")) {
        told.reserved = static_cast<std::uint64_t>(*reserved);
    }
    told.stream_bytes_max = positive_in(limits, "storage_max_stream_bytes");
    bool needs_max_bytes = false;
    told.needs_max_bytes =
        limits["max_bytes_required"].get(needs_max_bytes) == simdjson::SUCCESS && needs_max_bytes;
    return told;
}

}  // namespace

std::optional<account_limits> account_limits_in(std::string_view answer, std::int64_t replicas) {
    simdjson::dom::parser parser;
    simdjson::dom::object account;
    if (parser.parse(answer.data(), answer.size()).get(account) != simdjson::SUCCESS) {
        return std::nullopt;
    }
    simdjson::dom::object tiers;
    if (account["tiers"].get(tiers) != simdjson::SUCCESS || tiers.size() == 0) {
        auto told = limits_of(account);
        if (told) {
            told->copies = replicas;
        }
        return told;
    }
    const auto name = "R" + std::to_string(replicas);
    simdjson::dom::object tier;
    if (tiers[name].get(tier) == simdjson::SUCCESS) {
        return limits_of(tier);
    }
    account_limits none;
    none.missing_tier = name;
    return none;
}

std::optional<account_limits> read_account(natsConnection* connection,
                                           const connect_options& options, std::int64_t replicas) {
    const auto subject = options.api + ".INFO";
    natsMsg* raw = nullptr;
    const auto status = natsConnection_RequestString(&raw, connection, subject.c_str(), "",
                                                     options.timeout.count());
    const message_handle answer(raw);
    if (status != NATS_OK) {
        return std::nullopt;
    }
    return account_limits_in(
        {natsMsg_GetData(raw), static_cast<std::size_t>(natsMsg_GetDataLength(raw))}, replicas);
}

}  // namespace walrelay::nats
