#include "nats/requests/look_back.hpp"

#include "core/stream_end.hpp"
#include "nats/requests/stream_reading.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace walrelay::nats {
namespace {

/// Remembers walrelay's messages, as long as none is missing between those that are told.
class recent_messages {
public:
    void add(const stream_message& message, const std::optional<position>& where) {
        whole_ = whole_ && (last_ == 0 || message.sequence == last_ + 1);
        const char* id = nullptr;
        if (!whole_) {
            return;
        }
        last_ = message.sequence;
        if (where && natsMsgHeader_Get(message.headers, "Nats-Msg-Id", &id) == NATS_OK) {
            messages_.push_back({id, message.stored, message.sequence, where});
        }
    }
    void break_off() { whole_ = false; }
    [[nodiscard]] bool is_whole() const { return whole_; }
    [[nodiscard]] std::vector<recent_message> take() {
        return whole_ ? std::move(messages_) : std::vector<recent_message>{};
    }

private:
    std::vector<recent_message> messages_;
    std::uint64_t last_ = 0;
    bool whole_ = true;
};

/// Takes one message for the last one so far.
void take(const asked_message& one, stream_facts& facts) {
    const auto& ours = one.where;
    facts.final_position = ours;
    facts.final_id = one.id;
    if (!ours) {
        facts.shared = true;
        return;
    }
    // Beside others a message can come after a later one that it had to be sent again after.
    const bool comparable = facts.last_position && facts.last_position->origin == ours->origin;
    if (!comparable || facts.last_position->at < ours->at) {
        facts.last_position = ours;
    }
    if (!facts.shared) {
        facts.safe_position = ours;
        facts.safe_id = facts.final_id;
        facts.safe_sequence = one.sequence;
    }
    facts.placed.push_back({one.sequence, *ours, facts.final_id});
}

asked_message read_headers(const stream_message& from) {
    const char* value = nullptr;
    asked_message one;
    one.sequence = from.sequence;
    if (natsMsgHeader_Get(from.headers, "Nats-Msg-Id", &value) == NATS_OK) {
        one.id = value;
    }
    if (natsMsgHeader_Get(from.headers, "Walrelay-Position", &value) == NATS_OK) {
        one.where = parse_position(value);
    }
    return one;
}

/// What was read of the last message alone.
void forget_ends(stream_facts& facts) {
    facts.last_position.reset();
    facts.safe_position.reset();
    facts.safe_id.clear();
    facts.shared = false;
}

}  // namespace

result<void> look_back(natsConnection* connection, const connect_options& options,
                       std::uint64_t count, stream_facts& facts, subscription_handle& incoming) {
    const auto told = facts;
    reading_span span(told.last_sequence - std::min(count, told.last_sequence) + 1,
                      told.last_sequence);
    forget_ends(facts);
    std::uint64_t last = 0;
    recent_messages recent;
    stream_reading reading(connection, options, incoming);
    const auto beyond = reading.read(span, [&](const stream_message& each) -> result<void> {
        const auto one = read_headers(each);
        take(one, facts);
        last = each.sequence;
        recent.add(each, one.where);
        return {};
    });
    if (!beyond) {
        return beyond.error();
    }
    if (*beyond > 0 && last < told.last_sequence && told.last_message_there) {
        // A newer message of its subject has taken its place meanwhile.
        last = told.last_sequence;
        take({last, told.final_position, told.final_id}, facts);
        recent.break_off();
    }
    if (!ends_alike(told, {last, facts.final_position, facts.final_id})) {
        return ends_differ(options.stream);
    }
    facts.placed_is_whole = recent.is_whole();
    facts.recent = recent.take();
    facts.looked_back = true;
    return {};
}

}  // namespace walrelay::nats
