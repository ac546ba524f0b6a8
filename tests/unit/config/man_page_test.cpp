// docs/man/walrelay.toml.5 says what the table of keys says. To write it again:
// WALRELAY_WRITE_MAN_PAGE=1 unit_tests --gtest_filter='ManPage.*'
#include "unit/config/man_page.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

namespace walrelay::config {
namespace {

constexpr const char* file_name = WALRELAY_SOURCE_DIR "/docs/man/walrelay.toml.5";

TEST(ManPage, IsThatOfTheTable) {
    if (std::getenv("WALRELAY_WRITE_MAN_PAGE") != nullptr) {
        std::ofstream(file_name) << man_page();
    }
    std::ostringstream text;
    text << std::ifstream(file_name).rdbuf();
    EXPECT_EQ(text.str(), man_page()) << "write it again, see the head of this test";
}

TEST(ManPage, UsesNoOtherRequestsAndClosesItsFonts) {
    const std::set<std::string> known{".\\\"", ".TH", ".SH", ".TP", ".IP", ".PP",
                                      ".B",    ".br", ".nf", ".fi", ".nh", ".ad"};
    std::istringstream lines(man_page());
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with('.')) {
            EXPECT_TRUE(known.contains(line.substr(0, line.find(' ')))) << line;
            continue;
        }
        EXPECT_FALSE(line.starts_with('\'')) << line;
        EXPECT_EQ(line.find('`'), std::string::npos) << line;
        const auto opened = line.rfind("\\fB");
        EXPECT_TRUE(opened == std::string::npos || line.find("\\fR", opened) != std::string::npos)
            << line;
    }
}

TEST(ManPage, ProtectsWhatRoffWouldRead) {
    EXPECT_EQ(roff(".a"), "\\&.a\n");
    EXPECT_EQ(roff("'a"), "\\&'a\n");
    EXPECT_EQ(roff("a\\b `--c 'd'`"), "a\\eb \\fB\\-\\-c \\(aqd\\(aq\\fR\n");
}

}  // namespace
}  // namespace walrelay::config
