// Where the slot may stand as far as this relay knows, and who may have moved it. Pure; a part of
// the relay machine, which gives every fact and asks every question.
//
// A slot that stands further than this relay has confirmed lacks rows, unless another consumer held
// it in between: for that one it was to move it.
#pragma once

#include "core/error.hpp"
#include "core/instant.hpp"
#include "core/lsn.hpp"
#include "core/position.hpp"

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
    /// Whether another consumer holds it, so that this relay stands by.
    [[nodiscard]] bool is_standby() const { return tries_ >= standby_after_tries; }
    /// As of the last `was_in_use`: this relay stands by from now on.
    [[nodiscard]] bool began_to_stand_by() const { return tries_ == standby_after_tries; }
    [[nodiscard]] bool was_refused() const { return tries_ > 0; }
    enum class taken { at_once, after_tries, after_standing_by };
    /// It is had. After standing by, where it was is of no interest any more.
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
    /// Whether it stands where this relay has not brought it, and nobody is known to have held it.
    [[nodiscard]] bool was_moved(lsn confirmed) const;

    // Finding out who moved it: the stream's tail, read anew, may show another relay.

    /// The connection ends; the last event that was known of it.
    void leave(std::optional<commit_position> last) { left_at_ = std::max(left_at_, last); }
    [[nodiscard]] bool is_in_question() const { return in_question_; }
    void ask() { in_question_ = true; }
    /// The question is over.
    void settle() { in_question_ = false; }
    /// Whether the stream's last message is of a later event than any that this relay knew.
    [[nodiscard]] bool is_news(const commit_position& tail) const {
        return !left_at_ || tail > *left_at_;
    }

private:
    /// All rows from the one to the other are stored; the second is 0 where nothing is known.
    lsn since_;
    lsn at_most_;
    std::uint32_t tries_ = 0;
    /// The slot was in use since this relay had it last.
    bool others_seen_ = false;
    bool in_question_ = false;
    std::optional<commit_position> left_at_;
};

}  // namespace walrelay::relay
