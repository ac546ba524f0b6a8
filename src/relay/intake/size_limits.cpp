#include "relay/intake/size_limits.hpp"

#include <algorithm>
#include <limits>
#include <string>

namespace walrelay::relay {
namespace {

error too_large(const message& content, std::uint64_t size, std::uint64_t limit,
                const char* limit_name, const char* remedy) {
    return {errc::message_too_large,
            "the message of row id " + content.id + " (position " + to_string(content.where) +
                ", subject " + content.subject + ") has " + std::to_string(size) +
                " bytes with its headers, more than " + limit_name + " = " + std::to_string(limit),
            remedy};
}

}  // namespace

std::uint64_t wire_bytes(const message& content) {
    constexpr std::uint64_t frame = sizeof "NATS/1.0\r\n" - 1 + sizeof "\r\n" - 1;
    constexpr std::uint64_t around = sizeof ": \r\n" - 1;
    constexpr std::uint64_t sequence_digits = 20;
    std::uint64_t total = frame + content.body.size();
    total += sizeof "Nats-Msg-Id" - 1 + around + content.id.size();
    total += sizeof "Nats-Expected-Last-Sequence" - 1 + around + sequence_digits;
    for (std::size_t index = 0; index < content.header_count(); ++index) {
        const auto& each = content.header_at(index);
        total += each.name.size() + around + each.value.size();
    }
    return total;
}

std::optional<error> leaves_no_room(const broker_facts& facts, const std::string& stream) {
    constexpr std::size_t position_bytes = 50;
    message smallest;
    smallest.id = "1";
    smallest.add_header("Walrelay-Position", std::string(position_bytes, '0'));
    const auto smallest_bytes = wire_bytes(smallest);
    if (facts.max_payload_bytes != 0 && facts.max_payload_bytes < smallest_bytes) {
        return error{errc::broker_unavailable,
                     "the broker's max_payload = " + std::to_string(facts.max_payload_bytes) +
                         " leaves no room for any message; no row is read before it does",
                     "set max_payload in nats-server.conf, usually 1MB, then: nats-server --signal "
                     "reload"};
    }
    const auto of_stream = facts.stream ? facts.stream->max_message_bytes : -1;
    if (of_stream >= 0 && static_cast<std::uint64_t>(of_stream) < smallest_bytes) {
        return error{errc::broker_unavailable,
                     "max_msg_size = " + std::to_string(of_stream) + " of stream " + stream +
                         " leaves no room for any message; no row is read before it does",
                     "nats stream edit " + stream + " --max-msg-size=-1"};
    }
    return std::nullopt;
}

std::uint64_t size_limits::least() const {
    constexpr auto unlimited = std::numeric_limits<std::uint64_t>::max();
    const auto payload = max_payload_bytes == 0 ? unlimited : max_payload_bytes;
    return std::min(payload, static_cast<std::uint64_t>(max_message_bytes));  // -1 is the most
}

result<void> size_limits::check(const message& candidate) const {
    const auto size = wire_bytes(candidate);
    if (max_payload_bytes != 0 && size > max_payload_bytes) {
        return too_large(candidate, size, max_payload_bytes, "the broker's max_payload",
                         "raise max_payload in nats-server.conf and reload it; then walrelay "
                         "dead-letter retry, or start again");
    }
    if (max_message_bytes >= 0 && size > static_cast<std::uint64_t>(max_message_bytes)) {
        return too_large(
            candidate, size, static_cast<std::uint64_t>(max_message_bytes),
            "the stream's max_msg_size",
            "raise it with `nats stream edit --max-msg-size`; then walrelay dead-letter retry, or "
            "start again");
    }
    return {};
}

}  // namespace walrelay::relay
