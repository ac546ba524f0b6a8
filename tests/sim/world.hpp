// Time, chance and the queue of what happens next. Time jumps from event to event; no clock is
// asked. Knows nothing of relays, slots and streams.
#pragma once

#include "core/instant.hpp"
#include "sim/randomness.hpp"

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <sstream>
#include <string>
#include <vector>

namespace walrelay::sim {

class world {
public:
    /// `trace` gets one line for each thing that happens; may be null.
    world(std::uint64_t seed, std::ostream* trace) : random_(seed), trace_(trace) {}

    [[nodiscard]] sim_time now() const { return now_; }
    [[nodiscard]] instant now_for_the_relay() const;
    [[nodiscard]] static wall_time to_wall(sim_time when);
    /// The simulated time of a point on the relay's clock.
    [[nodiscard]] static sim_time from_relay(monotonic_time when);
    [[nodiscard]] randomness& random() { return random_; }

    /// Whether a fault of this rate strikes now. Never once the world is calm.
    bool strikes(std::uint64_t per_mille) {
        return !calm_ && per_mille > 0 && random_.chance(per_mille);
    }
    void calm_down() { calm_ = true; }
    [[nodiscard]] bool is_calm() const { return calm_; }

    /// Events of the same time happen in the order in which they were asked for.
    void at(sim_time when, std::function<void()> what);
    void after(sim_time delay, std::function<void()> what) { at(now_ + delay, std::move(what)); }
    /// Jumps to the next event and lets it happen; false if there is none.
    bool step();

    template <class... Parts>
    void say(const Parts&... parts) {
        if (trace_ != nullptr) {
            std::ostringstream line;
            (line << ... << parts);
            write(line.str());
        }
    }

private:
    struct event {
        sim_time when;
        std::uint64_t number;
        std::function<void()> what;
    };
    static bool later(const event& one, const event& other);
    void write(const std::string& line);

    randomness random_;
    std::ostream* trace_;
    sim_time now_{0};
    bool calm_ = false;
    std::uint64_t last_number_ = 0;
    std::vector<event> queue_;  // a heap, the next event first
};

}  // namespace walrelay::sim
