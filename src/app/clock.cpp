#include "app/clock.hpp"

#include <atomic>

namespace walrelay::app {
namespace {

constexpr std::chrono::seconds worth_correcting{1};

/// Of the one server that a process has.
std::atomic<std::chrono::microseconds> server_ahead{std::chrono::microseconds::zero()};

}  // namespace

instant now() {
    auto read = own_now();
    read.wall += server_ahead.load(std::memory_order_relaxed);
    return read;
}

void take_server_time(wall_time server) {
    const auto ahead = server - own_now().wall;
    server_ahead.store(std::chrono::abs(ahead) < worth_correcting
                           ? std::chrono::microseconds::zero()
                           : std::chrono::duration_cast<std::chrono::microseconds>(ahead),
                       std::memory_order_relaxed);
}

}  // namespace walrelay::app
