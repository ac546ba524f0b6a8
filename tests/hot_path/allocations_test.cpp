// Guards the hot path against allocations: their number does not depend on the machine.
#include "hot_path/figures.hpp"

#include <gtest/gtest.h>

namespace walrelay::test {
namespace {

class HotPathAllocations : public testing::TestWithParam<figure> {};

TEST_P(HotPathAllocations, AreAsManyAsWrittenDown) {
    // Of a thousand events; a queue that grows once in a while stays below.
    constexpr double rounding = 0.005;
    const auto& expected = GetParam();
    EXPECT_NEAR(allocations_per_event(expected), expected.allocations, rounding)
        << "allocations per event with " << name_of(expected, ' ')
        << ": tests/hot_path/figures.txt says otherwise. To see who makes them:\n"
           "  valgrind --tool=callgrind --toggle-collect=walrelay_hot_path_measured "
           "--callgrind-out-file=callgrind.out "
        << WALRELAY_HOT_PATH << " 1000 " << name_of(expected, ' ')
        << "\n  callgrind_annotate --tree=caller --inclusive=yes callgrind.out | "
           "grep -B 20 '[*] .*operator new('\n"
           "If it is meant, write the new figure into the file.";
}

INSTANTIATE_TEST_SUITE_P(Figures, HotPathAllocations, testing::ValuesIn(read_figures()));

}  // namespace
}  // namespace walrelay::test
