#include "relay/machine/backoff.hpp"

#include <gtest/gtest.h>

namespace walrelay::relay {
namespace {

using namespace std::chrono_literals;

TEST(Backoff, StaysBetweenHalfAndTheWholeOfTheDoubledDelay) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        backoff delays({100ms, 30s}, seed);
        auto longest = 100ms;
        for (int tries = 0; tries < 12; ++tries) {
            const auto delay = delays.next();
            EXPECT_GE(delay, longest / 2) << "seed " << seed;
            EXPECT_LE(delay, longest) << "seed " << seed;
            longest = std::min<std::chrono::milliseconds>(longest * 2, 30s);
        }
    }
}

TEST(Backoff, NeverExceedsItsMaximumAfterManyTries) {
    backoff delays({100ms, 30s}, 7);
    for (int tries = 0; tries < 1000; ++tries) {
        EXPECT_LE(delays.next(), 30s);
    }
}

TEST(Backoff, BeginsAnewAfterReset) {
    backoff delays({100ms, 30s}, 7);
    for (int tries = 0; tries < 10; ++tries) {
        static_cast<void>(delays.next());
    }
    delays.reset();
    EXPECT_LE(delays.next(), 100ms);
}

TEST(Backoff, DiffersFromSeedToSeed) {
    backoff one({1s, 30s}, 1);
    backoff other({1s, 30s}, 2);
    bool differs = false;
    for (int tries = 0; tries < 10; ++tries) {
        differs = one.next() != other.next() || differs;
    }
    EXPECT_TRUE(differs);
}

}  // namespace
}  // namespace walrelay::relay
