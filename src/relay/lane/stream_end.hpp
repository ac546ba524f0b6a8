// What a lane knows of the stream's end, from its looks and from acks. In a new process nothing is
// known, and the first look decides. Pure; a part of the lane.
#pragma once

#include "core/position.hpp"
#include "core/witness.hpp"
#include "relay/lane/stream_tail.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace walrelay::relay {

class stream_end {
public:
    /// The highest sequence that the stream is known to have had.
    [[nodiscard]] std::uint64_t sequence() const { return sequence_; }
    /// The last message of walrelay's, as far as known, whatever its history.
    [[nodiscard]] const std::optional<position>& position_of_last() const { return last_; }
    /// That one need not be of the greatest position: a parallel writer's, of a look.
    [[nodiscard]] bool stands_back() const { return stands_back_; }
    /// The message of the highest sequence that is known to be in the stream, of a row.
    [[nodiscard]] const std::optional<stored_message>& newest_stored() const { return newest_; }
    /// Since the last look: the sequence of an ack that the stream had given to another message,
    /// whose ack had come before this one was sent; nothing if there was none.
    [[nodiscard]] const std::optional<std::uint64_t>& reused_sequence() const { return reused_; }

    /// Whether a look shows less than there was, or the stream has taken more for what it lost.
    /// `in_order`: its last message is to be of the greatest position.
    [[nodiscard]] bool is_less(const stream_tail& tail, bool in_order) const {
        if (reused_ || tail.last_sequence < sequence_ || tail.made_again) {
            return true;
        }
        // What is behind the last one that was acked is somebody else's, which lane::is_mixed
        // tells. Where others write, messages of later commits may come before earlier ones.
        return in_order && !stands_back_ && tail.last_sequence == sequence_ && !tail.shared &&
               !is_shared_ && tail.last_position && last_ &&
               tail.last_position->origin == last_->origin && tail.last_position->at < last_->at;
    }
    void seen(const stream_tail& tail);
    /// The same where it is known what it has lost.
    void seen_position(const stream_tail& tail);
    void forget_position() { last_.reset(); }

    void stored(const stored_message& as) {
        sequence_ = std::max(sequence_, as.sequence);
        if (!newest_ || as.sequence > newest_->sequence) {
            newest_ = as;
        }
    }
    void ends_with(const position& where) {
        last_ = where;
        stands_back_ = false;
    }
    void reused(std::uint64_t sequence) { reused_ = sequence; }

private:
    std::uint64_t sequence_ = 0;
    std::optional<position> last_;
    bool stands_back_ = false;
    /// Others wrote among the last messages, so that positions are not in order there.
    bool is_shared_ = false;
    std::optional<std::uint64_t> reused_;
    std::optional<stored_message> newest_;
};

}  // namespace walrelay::relay
