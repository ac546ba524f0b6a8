#include "relay/machine/backoff.hpp"

#include <algorithm>

namespace walrelay::relay {

std::chrono::milliseconds backoff::next() {
    constexpr std::uint32_t doublings_max = 20;
    const auto doublings = std::min(tries_, doublings_max);
    ++tries_;
    const auto longest =
        std::min<std::int64_t>(limits_.max.count(), limits_.initial.count() << doublings);
    // xorshift64 (Marsaglia, "Xorshift RNGs", 2003): jitter needs no better source.
    random_ ^= random_ << 13U;
    random_ ^= random_ >> 7U;
    random_ ^= random_ << 17U;
    const auto shortest = longest / 2;
    const auto spread = static_cast<std::uint64_t>(longest - shortest) + 1;
    return std::chrono::milliseconds(shortest + static_cast<std::int64_t>(random_ % spread));
}

}  // namespace walrelay::relay
