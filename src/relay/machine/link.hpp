// Where the connection to one server stands: down, being made, up, or waiting for the next try.
// Pure; asked by the relay machine, which turns it into actions.
#pragma once

#include "core/assert.hpp"
#include "core/instant.hpp"
#include "relay/machine/backoff.hpp"

#include <cstdint>
#include <optional>

namespace walrelay::relay {

class link {
public:
    link(backoff_limits limits, std::uint64_t seed) : limits_(limits), backoff_(limits, seed) {}

    [[nodiscard]] bool is_up() const { return state_ == state::up; }
    [[nodiscard]] bool is_connecting() const { return state_ == state::connecting; }
    [[nodiscard]] bool is_idle() const { return state_ == state::idle; }
    /// Now, or at any time before.
    [[nodiscard]] bool was_up() const { return was_up_; }
    /// A try failed, or a connection ended, and nothing that the server is there for has come of
    /// it since: a connection alone proves nothing.
    [[nodiscard]] bool is_in_trouble() const { return in_trouble_; }
    /// Counts the tries; an event of an earlier try is of no interest any more.
    [[nodiscard]] std::uint64_t epoch() const { return epoch_; }
    [[nodiscard]] std::optional<monotonic_time> retry_at() const { return retry_at_; }

    /// Begins a try; returns its epoch.
    std::uint64_t connect() {
        WALRELAY_ASSERT(state_ == state::idle || state_ == state::waiting);
        state_ = state::connecting;
        retry_at_.reset();
        return ++epoch_;
    }

    void connected(monotonic_time now) {
        WALRELAY_ASSERT(state_ == state::connecting);
        state_ = state::up;
        was_up_ = true;
        up_since_ = now;
    }

    /// The try failed or the connection ended. Returns how long to wait for the next try.
    std::chrono::milliseconds lost(monotonic_time now) {
        if (state_ == state::up && now - up_since_ > limits_.max) {
            backoff_.reset();
        }
        const auto delay = backoff_.next();
        in_trouble_ = true;
        wait(now, delay);
        return delay;
    }

    /// The same where another delay than the usual one is right.
    void wait(monotonic_time now, std::chrono::milliseconds delay) {
        state_ = state::waiting;
        retry_at_ = now + delay;
    }

    /// The connection does what it is for: the next loss is met with the shortest delay.
    void progressed() {
        backoff_.reset();
        answered();
    }
    /// It does that for one request at least, whatever it says to it.
    void answered() { in_trouble_ = false; }

    /// The connection is given up for a new one. Returns its epoch.
    std::uint64_t replace() {
        WALRELAY_ASSERT(state_ == state::up);
        state_ = state::connecting;
        return ++epoch_;
    }

    /// No further try.
    void shut() {
        state_ = state::idle;
        retry_at_.reset();
        ++epoch_;
    }

private:
    enum class state { idle, connecting, up, waiting };

    backoff_limits limits_;
    backoff backoff_;
    state state_ = state::idle;
    std::uint64_t epoch_ = 0;
    bool was_up_ = false;
    bool in_trouble_ = false;
    monotonic_time up_since_;
    std::optional<monotonic_time> retry_at_;
};

}  // namespace walrelay::relay
