// When the witness is written, and up to where the slot may be told by it. Pure.
//
// What was stored is named in the database before the slot is told past it: with one statement for
// all that is confirmed together, at most one a second, and none while nothing is stored. While
// only other tables write, the slot follows at once, and the witness at most once a minute; its own
// commit is no reason for the next one. The first move over a connection is named in any case: a
// relay that finds the slot moved tells by it that another one had it, and not somebody else.
#pragma once

#include "core/instant.hpp"
#include "core/witness.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace walrelay::relay {

class witness_keeper {
public:
    /// A connection to the database begins: this is what it has, of a slot that stands at
    /// `slot_confirmed`. What was on its way over an earlier one has come to an end.
    void begin(const witness_reading& read, lsn slot_confirmed);
    /// The connection is gone.
    void end();
    /// Whether this is what this relay has known last, or has written since without an answer:
    /// nobody else has written anything between its two connections.
    [[nodiscard]] bool is_own(const std::optional<witness>& found) const;

    /// The last that is known: what the database has, or would have if it could be written.
    [[nodiscard]] const std::optional<witness>& known() const { return known_; }

    /// From now on: the stream of this name and creation, which ends with `last` of walrelay's, and
    /// everything before `confirmed`, an LSN of `origin`, is stored.
    void offer(const std::string& stream, wall_time created,
               const std::optional<stored_message>& last, lsn confirmed, history origin);
    /// It can be written here, and no answer is awaited.
    [[nodiscard]] bool may_write() const { return writable_ && !writing_; }
    /// What is to be written now, if it is time. `at_once`: the relay ends, so that no second may
    /// pass, and idle moves are named as well.
    [[nodiscard]] std::optional<witness> take_to_write(monotonic_time now, bool at_once);
    /// What stands there is wrong: this is written in its place, whatever it names. Nothing may be
    /// published before.
    void replace(witness by);
    [[nodiscard]] bool is_replacing() const { return replaces_; }
    /// `version`: that of the row which was written.
    void written(std::uint64_t version, monotonic_time now);
    /// It could not be written, and is tried again.
    void failed(monotonic_time now);
    /// It can never be written here: nothing waits for it any more.
    void cannot_be_written();

    /// What the slot may be told.
    [[nodiscard]] lsn may_tell() const { return told_; }
    /// Whether something is to be written before the slot may be told all that is confirmed, or
    /// before a relay that ends should end.
    [[nodiscard]] bool owes(bool at_once) const;
    /// When take_to_write is to be called.
    [[nodiscard]] std::optional<monotonic_time> deadline() const;

private:
    [[nodiscard]] stored_message newest_of(const std::optional<stored_message>& last,
                                           const std::string& stream, wall_time created) const;
    [[nodiscard]] bool is_named() const;
    [[nodiscard]] bool is_after(const witness& named) const;
    /// There is no row yet, and the slot is known.
    [[nodiscard]] bool is_first() const { return !known_ && offered_.told != lsn{}; }
    [[nodiscard]] bool is_idle_move_due() const;
    void move_on();

    std::optional<witness> known_;
    witness offered_;
    std::optional<witness> writing_;
    /// What was on its way when the last connection ended.
    std::optional<witness> unanswered_;
    std::optional<monotonic_time> written_at_;
    std::optional<monotonic_time> retry_at_;
    lsn told_;
    bool writable_ = true;
    /// It was written over this connection.
    bool is_signed_ = false;
    bool replaces_ = false;
    /// The last write of a relay that ends was taken: only what is stored after it is a reason for
    /// another one.
    bool is_ending_ = false;
};

}  // namespace walrelay::relay
