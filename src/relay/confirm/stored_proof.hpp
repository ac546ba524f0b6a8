// From acked to stored: an ack alone proves nothing, since whoever sees a message sees where its
// ack goes, and can send one. What is acked counts as stored once the stream itself has said that
// it has it, to a question that goes out with an inbox which nobody has seen before. Pure; comes
// after relay/lane, and before the write-backs and the ledger.
//
// One question is enough for all that is acked when it goes out: the sequences of a sole writer are
// a chain, so that a stream which ends with the last of them has every one. Beside other writers
// that says only that the stream has not fallen back.
#pragma once

#include "core/instant.hpp"
#include "core/position.hpp"
#include "core/witness.hpp"

#include <cstdint>
#include <optional>

namespace walrelay::relay {

class stored_proof {
public:
    /// What the lane knows to be stored.
    struct claim {
        std::optional<commit_position> up_to = {};
        std::optional<stored_message> newest = {};
        /// Messages that were acked, or found in the stream, since the process began.
        std::uint64_t stored_count = 0;
    };

    /// The stream was read: it has what the lane claims.
    void shown(claim what);
    /// Of what the lane claims now (see claim), perhaps by acks that came since: every event up to
    /// the one that is returned is in the stream, or needs no place there. Positions of another
    /// history must not be compared: call begin_history before.
    [[nodiscard]] std::optional<commit_position> stored_of(
        const std::optional<commit_position>& up_to, const std::optional<stored_message>& newest,
        std::uint64_t stored_count);
    /// Positions of before mean nothing any more; what is acked is still to be proved.
    void begin_history();

    /// When the stream is to be asked; nothing while there is no need, or while an answer is
    /// awaited.
    [[nodiscard]] std::optional<monotonic_time> deadline() const;
    /// Something is acked, and the stream has not said that it has it.
    [[nodiscard]] bool is_open() const { return is_open_; }
    /// It is asked whether it has this, the last that was claimed.
    void asked(claim what, monotonic_time now);
    /// It has all that it had acked when it was asked.
    void answered();
    /// The connection that the question went over is gone.
    void forget_question() { asked_.reset(); }

    [[nodiscard]] const std::optional<stored_message>& newest() const { return proved_.newest; }

private:
    claim proved_;
    bool is_open_ = false;
    std::optional<claim> asked_;
    std::optional<monotonic_time> last_asked_;
};

}  // namespace walrelay::relay
