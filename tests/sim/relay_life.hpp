// One life of a relay's process, for what is to happen to it later.
#pragma once

#include "relay/driver/relay_driver.hpp"
#include "sim/broker.hpp"
#include "sim/configuration.hpp"
#include "sim/slot_server.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace walrelay::sim {

/// Defects of the relay's surroundings that the simulation must notice: proof that it can notice
/// something.
enum class canary {
    none,
    no_expectation,   // the lane forgets Nats-Expected-Last-Sequence
    no_tail,          // the lane sends again without knowing what the stream ends with
    acks_everything,  // every reply counts as an ack
};

struct relay_surroundings {
    world& where;
    const profile& how;
    slot_server& slot;
    broker& the_broker;
    database& source;
    checker& watch;
    /// With which a relay starts.
    const configuration& configured;
    canary defect = canary::none;

    /// Whether a message of this position is of a branch that the database has left. Where it is
    /// restored it can have been read on a branch, and be from before that: nothing tells.
    [[nodiscard]] bool has_left(const position& at) const {
        return !how.has(mishap::restore) && source.line().has_left(at);
    }
};

/// Thrown by a call of the surroundings: what a std::bad_alloc is to the program.
struct adapter_failure {};

class relay_life : public std::enable_shared_from_this<relay_life> {
public:
    /// `number` is of the lives of this process.
    relay_life(const relay_surroundings& around, std::string name, std::uint64_t number)
        : around_(around),
          name_(std::move(name)),
          configured_(around.configured),
          throws_(around.how.throws_seed + number) {}
    relay_life(const relay_life&) = delete;
    relay_life& operator=(const relay_life&) = delete;
    virtual ~relay_life() = default;

    [[nodiscard]] const relay_surroundings& around() const { return around_; }
    [[nodiscard]] const configuration& configured() const { return configured_; }
    template <class... Parts>
    void say(const Parts&... parts) const {
        around_.where.say(name_, ": ", parts...);
    }
    [[nodiscard]] instant now() const { return around_.where.now_for_the_relay(); }

    /// Something happens to the process: at once, or when it goes on after a pause. Not at all
    /// where this life is over.
    virtual void happens(const std::function<void(relay::relay_driver&)>& what) = 0;
    [[nodiscard]] virtual bool is_over() const = 0;

    /// Does nothing where this life is over when it is called.
    [[nodiscard]] std::function<void()> if_it_lasts(std::function<void()> what) {
        return [life = weak_from_this(), what = std::move(what)] {
            if (const auto lasts = life.lock(); lasts && !lasts->is_over()) {
                what();
            }
        };
    }
    /// Happens after that time.
    void happens_after(sim_time span, std::function<void(relay::relay_driver&)> what) {
        around_.where.after(span, if_it_lasts([this, what = std::move(what)] { happens(what); }));
    }
    /// A call of the surroundings may end with an exception.
    void may_throw() {
        constexpr std::uint64_t million = 1000000;
        const auto& how = around_.how;
        if (how.throws_per_million > 0 && !around_.where.is_calm() &&
            throws_.below(million) < how.throws_per_million) {
            throw adapter_failure{};
        }
    }

private:
    relay_surroundings around_;
    std::string name_;
    configuration configured_;
    randomness throws_;
};

}  // namespace walrelay::sim
