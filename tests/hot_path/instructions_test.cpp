// Guards the hot path against work that creeps in: instructions are counted under callgrind, which
// says the same on every machine, however busy it is.
#include "hot_path/figures.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <iomanip>
#include <sstream>

namespace walrelay::test {
namespace {

class HotPathInstructions : public testing::TestWithParam<figure> {};

std::string moved(const figure& from, const profiled& to) {
    constexpr double percent = 100;
    const auto change = (to.instructions_per_event / from.instructions - 1) * percent;
    std::ostringstream text;
    text << std::fixed << std::setprecision(0) << name_of(from, ' ') << ": " << from.instructions
         << " instructions per event are written down, now there are " << to.instructions_per_event
         << " (" << std::showpos << std::setprecision(1) << change
         << " %).\nTo see where they go:\n  callgrind_annotate --inclusive=yes "
         << to.profile.string()
         << " | less\nIf it is meant, be it more or fewer, write the new figure into "
            "tests/hot_path/figures.txt.";
    return text.str();
}

TEST_P(HotPathInstructions, StayWithinTheBand) {
    constexpr double band = 0.03;
    const auto& expected = GetParam();
    const auto now = instructions_per_event(expected);
    EXPECT_LE(std::abs(now.instructions_per_event - expected.instructions),
              expected.instructions * band)
        << moved(expected, now);
}

INSTANTIATE_TEST_SUITE_P(Figures, HotPathInstructions, testing::ValuesIn(read_figures()));

}  // namespace
}  // namespace walrelay::test
