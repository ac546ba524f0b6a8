// Where the slot may stand as far as this relay knows, and who may have moved it. Pure; a part of
// the relay machine, which gives every fact and asks every question.
//
// A slot that stands further than this relay has confirmed lacks rows, unless another relay held it
// in between, which the witness and the stream then show.
#pragma once

#include "core/error.hpp"
#include "core/instant.hpp"
#include "core/lsn.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

namespace walrelay::relay {

class slot_place {
public:
    /// Of "the slot is in use", before it counts as held by another consumer. The server may need a
    /// moment to notice the end of this relay's own last connection.
    static constexpr std::uint32_t standby_after_tries = 4;

    // Taking it.

    /// It could not be had; `why` is slot_in_use or slot_not_released. Returns how long to wait for
    /// the next try.
    std::chrono::milliseconds was_in_use(errc why);
    /// Whether another consumer holds it, so that this relay stands by. The end of its own last
    /// connection it awaits, however long that takes.
    [[nodiscard]] bool is_standby() const { return is_for_long() && others_had_it_; }
    /// As of the last `was_in_use`: this relay stands by from now on.
    [[nodiscard]] bool began_to_stand_by() const { return began_to_stand_by_; }
    [[nodiscard]] bool was_refused() const { return tries_ > 0; }
    /// Longer than a handover takes.
    [[nodiscard]] bool is_for_long() const { return tries_ >= standby_after_tries; }
    enum class taken { at_once, after_tries, after_standing_by };
    /// It is had. After standing by for another consumer, where it was is of no interest any more.
    taken take();

    // Where it stands.

    /// The stream of a connection begins here.
    void begins_at(lsn confirmed);
    /// The slot is told this, or was.
    void told(lsn confirmed) { at_most_ = std::max(at_most_, confirmed); }
    /// Nothing is known any more, as for a slot that is made anew.
    void forget() { at_most_ = {}; }
    /// Another history begins. `branch`: where it left the one before, nothing where it did not.
    void begin_history(std::optional<lsn> branch);
    [[nodiscard]] lsn at_most() const { return at_most_; }
    [[nodiscard]] std::optional<lsn> known_at_most() const {
        return at_most_ == lsn{} ? std::nullopt : std::optional(at_most_);
    }
    /// Whether this relay has brought it here, or further.
    [[nodiscard]] bool explains(lsn confirmed) const { return confirmed <= at_most_; }
    /// Whether it stands where this relay has not brought it, and nobody is known to have held it.
    [[nodiscard]] bool was_moved(lsn confirmed) const;

private:
    /// All rows from the one to the other are stored; the second is 0 where nothing is known.
    lsn since_;
    lsn at_most_;
    std::uint32_t tries_ = 0;
    bool began_to_stand_by_ = false;
    /// Another consumer had the slot since this relay had it last, until its stream has begun, and
    /// until it is taken.
    bool others_seen_ = false;
    bool others_had_it_ = false;
};

}  // namespace walrelay::relay
