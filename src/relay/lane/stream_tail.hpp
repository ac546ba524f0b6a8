// What the stream ends with, and what that is taken for. Pure.
#pragma once

#include "core/facts.hpp"
#include "core/position.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::relay {

/// What the stream holds, as read after connecting.
struct stream_tail {
    std::uint64_t last_sequence = 0;
    /// The greatest that was found among the last messages.
    std::optional<position> last_position;
    /// Somebody else wrote among them, so that `last_position` is no checkpoint.
    bool shared = false;
    /// The last position before that.
    std::optional<position> safe_position = {};
    /// The position of the last message itself.
    std::optional<position> final_position = {};
    /// Nats-Msg-Id of the last message.
    std::string final_id = {};
    /// That of the message of `safe_position`, and its place.
    std::string safe_id = {};
    std::uint64_t safe_sequence = 0;
    /// It is another stream of the same name.
    bool made_again = false;
    /// See lane::is_mixed.
    bool mixed = false;
    /// The last messages of walrelay's, and whether none is missing among them.
    std::vector<placed_message> placed = {};
    bool placed_is_whole = false;

    /// The position up to which it says what the stream has, if it can be believed.
    [[nodiscard]] const std::optional<position>& checkpoint() const {
        return shared ? safe_position : last_position;
    }
    /// The id of that message; empty where it is not known.
    [[nodiscard]] std::string checkpoint_id() const;
    /// Its place; 0 where it is not known.
    [[nodiscard]] std::uint64_t checkpoint_sequence() const {
        return shared ? safe_sequence : final_position == last_position ? last_sequence : 0;
    }
};

[[nodiscard]] stream_tail tail_of(const stream_facts& facts);

/// What the stream's tail is taken for.
enum class tail_belief {
    /// Every event up to its position is in the stream.
    exact,
    /// The same, but the row that it stands for must still be met.
    claim,
    /// Nothing, and nobody is to be asked: rows are recognised by Nats-Msg-Id alone.
    nothing,
    /// Nothing is sent until that is decided.
    undecided,
};

/// The row that the stream's last message stands for, until the slot has sent it.
struct tail_claim {
    std::uint64_t sequence = 0;
    position where = {};
    std::string id = {};
};

/// What the stream has of what it had acked.
enum class stream_memory {
    kept,
    /// It lacks messages that it had acked. The window is empty now, and what is to be sent
    /// again must be read again from the source.
    forgot,
};

/// How it is known that it forgot: what the stream had (a sequence), and the sequence that it has
/// given to a later message, where that told.
struct stream_loss {
    std::uint64_t had = 0;
    std::optional<std::uint64_t> reused;
};

}  // namespace walrelay::relay
