// Rows of an outbox against messages of a stream: is every row there, once, and in commit order?
#pragma once

#include "support/stream_reader.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace walrelay::test {

/// What is compared of a message.
struct seen_event {
    std::uint64_t sequence = 0;
    std::string id;        // Nats-Msg-Id
    std::string position;  // Walrelay-Position
};

[[nodiscard]] seen_event seen(const stored_message& message);

struct comparison {
    /// Ids of committed rows that are not in the stream.
    std::vector<std::string> missing;
    /// Ids that are in the stream more than once, once for each time too many.
    std::vector<std::string> twice;
    /// Ids that are in the stream, but of no committed row.
    std::vector<std::string> unexpected;
    /// What stands in the stream behind something that was committed later, or has a position that
    /// is malformed, not above its predecessor's, or not the next in its transaction.
    std::vector<std::string> out_of_order;

    [[nodiscard]] bool flawless() const;
};

/// Whether each message's ordinal in its transaction must be the next one, or just a higher one.
enum class ordinals { consecutive, rising };

/// Looks at the messages one after the other and keeps none: for streams too large for memory.
class running_comparison {
public:
    /// `committed` are the ids of all rows in the order of their commits; it must outlive this.
    explicit running_comparison(const std::vector<std::string>& committed,
                                ordinals kind = ordinals::consecutive);

    void look_at(const seen_event& event);
    /// Once, at the end.
    [[nodiscard]] comparison finish();

private:
    struct parsed_position {
        std::string system;
        std::uint64_t timeline = 0;
        /// 16 digits, so that the order of the texts is that of the numbers.
        std::string commit;
        /// The same; empty in the older form, which counts the rows of a transaction instead.
        std::string row;
        std::uint64_t index = 0;
    };

    [[nodiscard]] static std::optional<parsed_position> parse(std::string_view text);
    [[nodiscard]] bool follows_in_transaction(const parsed_position& next,
                                              const parsed_position& previous) const;
    [[nodiscard]] bool follows(const parsed_position& next,
                               const std::optional<parsed_position>& previous) const;
    void look_at_position(const seen_event& event);

    const std::vector<std::string>& committed_;
    ordinals kind_;
    std::unordered_map<std::string_view, std::size_t> place_;
    std::vector<bool> found_;
    std::size_t highest_ = 0;
    std::optional<parsed_position> last_;
    comparison result_;
};

/// `committed` are the ids of all rows in the order of their commits.
[[nodiscard]] comparison compare(const std::vector<std::string>& committed,
                                 const std::vector<seen_event>& stream);

/// For people: how many of each, and the first few.
[[nodiscard]] std::string to_string(const comparison& result);

}  // namespace walrelay::test
