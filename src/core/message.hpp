// A message as it goes to the broker. Plain, and made to be filled again: strings keep their
// capacity, so that a relay in full flow allocates nothing here.
#pragma once

#include "core/change.hpp"
#include "core/position.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace walrelay {

struct header {
    std::string name;
    std::string value;

    friend bool operator==(const header&, const header&) = default;
};

/// Why a row is published.
enum class message_cause {
    /// It was inserted.
    live,
    /// It was there before the slot.
    snapshot,
    /// An UPDATE asked for it once more (outbox.republish).
    republish,
    /// It was a dead letter.
    retry,
    /// It is one of earlier (`walrelay replay`).
    replay,
};
inline constexpr std::size_t message_cause_count = 5;
[[nodiscard]] const char* to_string(message_cause of);

class message {
public:
    position where;
    /// Not sent.
    message_cause cause = message_cause::live;
    wall_time committed_at;
    /// Of the transaction that wrote the row, where it is known. Not sent.
    std::optional<transaction_id> xid;
    /// What orders it where order holds per aggregate only. Not sent.
    std::string aggregate;
    /// Goes out as `Nats-Msg-Id`.
    std::string id;
    std::string subject;
    std::string body;

    /// Makes it empty but keeps the memory of its strings up to `kept_bytes` each.
    void clear(std::size_t kept_bytes);

    /// Adds a header; both strings are copied. Names and values must be fit for the wire already.
    void add_header(std::string_view name, std::string_view value);

    [[nodiscard]] std::size_t header_count() const { return header_count_; }
    [[nodiscard]] const header& header_at(std::size_t index) const { return headers_[index]; }

    /// What the message weighs in the window: subject, headers and body.
    [[nodiscard]] std::size_t size_bytes() const;

private:
    std::vector<header> headers_;
    std::size_t header_count_ = 0;
};

}  // namespace walrelay
