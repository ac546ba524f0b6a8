#include "sim/world.hpp"

#include <algorithm>
#include <iomanip>
#include <ostream>
#include <utility>

namespace walrelay::sim {
namespace {

// A steady clock does not begin at 0, and a relay must not care where it does.
constexpr std::chrono::hours clock_offset{100};
constexpr std::chrono::days wall_offset{20000};

}  // namespace

instant world::now_for_the_relay() const {
    return {monotonic_time(clock_offset + now_), to_wall(now_)};
}

wall_time world::to_wall(sim_time when) {
    return wall_time(wall_offset + when);
}

sim_time world::from_relay(monotonic_time when) {
    // Rounded up, so that what is due at that time is due when it is reached.
    return std::chrono::ceil<sim_time>(when.time_since_epoch() - clock_offset);
}

bool world::later(const event& one, const event& other) {
    return one.when != other.when ? one.when > other.when : one.number > other.number;
}

void world::at(sim_time when, std::function<void()> what) {
    queue_.push_back({std::max(when, now_), ++last_number_, std::move(what)});
    std::push_heap(queue_.begin(), queue_.end(), later);
}

bool world::step() {
    if (queue_.empty()) {
        return false;
    }
    std::pop_heap(queue_.begin(), queue_.end(), later);
    const event next = std::move(queue_.back());
    queue_.pop_back();
    now_ = next.when;
    next.what();
    return true;
}

void world::write(const std::string& line) {
    constexpr std::int64_t micros = 1000000;
    *trace_ << std::setw(5) << now_.count() / micros << '.' << std::setfill('0') << std::setw(6)
            << now_.count() % micros << std::setfill(' ') << "  " << line << '\n';
}

}  // namespace walrelay::sim
