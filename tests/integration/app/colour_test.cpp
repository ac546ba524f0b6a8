#include "app/colour.hpp"

#include <gtest/gtest.h>

namespace walrelay::app {
namespace {

TEST(Colour, IsOfTheWordThatBeginsALine) {
    EXPECT_EQ(coloured("ok       both sides are ready\n"),
              "\x1b[32mok\x1b[0m       both sides are ready\n");
    EXPECT_EQ(coloured("error    it broke\n         the error again\n"),
              "\x1b[1;31merror\x1b[0m    it broke\n         the error again\n");
}

TEST(Colour, LeavesWordsAloneThatOnlyBeginAlike) {
    EXPECT_EQ(coloured("okay\nnotes of it"), "okay\nnotes of it");
    EXPECT_EQ(coloured(""), "");
}

TEST(Colour, IsOfTheNameOfAState) {
    EXPECT_EQ(coloured("state        streaming for 3 s\n"),
              "state        \x1b[32mstreaming\x1b[0m for 3 s\n");
    EXPECT_EQ(coloured("state        waiting broker for 3 s"),
              "state        \x1b[1;31mwaiting broker\x1b[0m for 3 s");
}

TEST(Colour, IsOfALineThatDoesNotEnd) {
    EXPECT_EQ(coloured("note"), "\x1b[2mnote\x1b[0m");
}

}  // namespace
}  // namespace walrelay::app
