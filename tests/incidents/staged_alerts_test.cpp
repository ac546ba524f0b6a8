// Each alert that is shipped is one of a night's: a rule that no incident fires is not known to
// fire.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

namespace walrelay::test {
namespace {

/// What the first group of the expression takes, everywhere in a file.
std::set<std::string> found_in(const std::filesystem::path& path, const std::regex& expression) {
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    std::set<std::string> found;
    for (std::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at) {
        found.insert((*at)[1]);
    }
    return found;
}

TEST(StagedAlerts, AreAllThatAreShipped) {
    std::set<std::string> staged;
    for (const auto& each : std::filesystem::directory_iterator(WALRELAY_INCIDENTS)) {
        if (each.path().filename().string().ends_with("_e2etest.cpp")) {
            staged.merge(found_in(each.path(), std::regex("\"(Walrelay[A-Za-z]+)\"")));
        }
    }
    EXPECT_EQ(staged,
              found_in(WALRELAY_MONITORING "/alerts.yaml", std::regex("alert: ([A-Za-z]+)")));
}

}  // namespace
}  // namespace walrelay::test
