#include "app/help_text.hpp"

#include <gtest/gtest.h>

namespace walrelay::app {
namespace {

TEST(HelpText, BreaksLinesAtBlanksBeforeTheyAreTooLong) {
    EXPECT_EQ(wrapped("one two three", 0, 2, 7), "one two\n  three");
    EXPECT_EQ(wrapped("one two three", 4, 4, 8), "one\n    two\n    three");
    EXPECT_EQ(wrapped("", 0, 2, 7), "");
}

TEST(HelpText, LeavesAWordWholeThatIsLongerThanALine) {
    EXPECT_EQ(wrapped("a nats://127.0.0.1:4222 b", 0, 1, 6), "a\n nats://127.0.0.1:4222\n b");
}

TEST(HelpText, KeepsNamesLongerThanTheirColumnOnALineOfTheirOwn) {
    CLI::App program("Does much.", "program");
    program.formatter(std::make_shared<help_text>(60));
    std::string value;
    program.add_option("--very-long-name-of-an-option", value, "what it does")->type_name("TEXT");
    EXPECT_NE(program.help().find("  --very-long-name-of-an-option TEXT\n"
                                  "                          what it does\n"),
              std::string::npos)
        << program.help();
}

TEST(HelpText, DoesNotShowWhatAFlagStandsForWithoutAValue) {
    CLI::App program("Does much.", "program");
    program.formatter(std::make_shared<help_text>(60));
    std::string value;
    program.add_flag("--print{all}", value, "show it");
    EXPECT_NE(program.help().find("  --print                 show it\n"), std::string::npos)
        << program.help();
}

}  // namespace
}  // namespace walrelay::app
