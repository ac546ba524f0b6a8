// How far a relay is from its end, and why it ends. Pure; a part of the relay machine.
//
//   running -> draining (no more reading, acks are awaited) -> closing (the slot is told for the
//   last time, a halt is stored) -> ended
#pragma once

#include "core/error.hpp"
#include "core/instant.hpp"

#include <chrono>
#include <optional>
#include <utility>

namespace walrelay::relay {

class relay_life {
public:
    /// How long a stop waits for what is still out.
    explicit relay_life(std::chrono::milliseconds drain_timeout) : drain_timeout_(drain_timeout) {}

    [[nodiscard]] bool is_running() const { return phase_ == phase::running; }
    [[nodiscard]] bool is_draining() const { return phase_ == phase::draining; }
    [[nodiscard]] bool is_closing() const { return phase_ == phase::closing; }
    [[nodiscard]] bool has_ended() const { return phase_ == phase::ended; }
    /// Nothing is decided any more.
    [[nodiscard]] bool is_at_end() const { return is_closing() || has_ended(); }

    void drain(int exit_code, monotonic_time now) {
        phase_ = phase::draining;
        exit_code_ = exit_code;
        drain_until_ = now + drain_timeout_;
    }
    [[nodiscard]] const std::optional<monotonic_time>& drain_until() const { return drain_until_; }
    void close() {
        phase_ = phase::closing;
        drain_until_.reset();
    }
    void end() { phase_ = phase::ended; }

    /// An operator is needed, for this.
    void note_halt(const error& why, int exit_code) {
        halted_for_ = why;
        exit_code_ = exit_code;
    }
    /// Nothing where none is.
    [[nodiscard]] const std::optional<error>& halted_for() const { return halted_for_; }
    [[nodiscard]] int exit_code() const { return exit_code_; }

    /// The halt goes into the database. The slot is held until it is there: the next relay that
    /// gets the slot must find it.
    void store_halt() { storing_halt_ = true; }
    [[nodiscard]] bool is_storing_halt() const { return storing_halt_; }
    /// It is there, or cannot be. Returns whether it was waited for.
    bool halt_is_stored() { return std::exchange(storing_halt_, false); }

private:
    enum class phase { running, draining, closing, ended };

    std::chrono::milliseconds drain_timeout_;
    phase phase_ = phase::running;
    int exit_code_ = 0;
    std::optional<monotonic_time> drain_until_;
    std::optional<error> halted_for_;
    bool storing_halt_ = false;
};

}  // namespace walrelay::relay
