// docs/json.md lists the codes of findings, and each is found somewhere.
#include "core/finding_code.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

namespace walrelay {
namespace {

std::string text_of(const std::filesystem::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

std::string sources() {
    std::string all;
    for (const auto& file :
         std::filesystem::recursive_directory_iterator(WALRELAY_SOURCE_DIR "/src")) {
        if (file.path().extension() == ".cpp") {
            all += text_of(file.path());
        }
    }
    return all;
}

TEST(FindingCode, IsListedInTheDocumentation) {
    const auto document = text_of(WALRELAY_SOURCE_DIR "/docs/json.md");
    std::string list = "| code | meaning |\n|---|---|\n";
    for (const auto& each : finding_kinds) {
        list += "| `" + std::string(each.code) + "` | " + std::string(each.meaning) + " |\n";
    }
    const auto begin = document.find("| code | meaning |");
    ASSERT_NE(begin, std::string::npos);
    EXPECT_EQ(document.substr(begin), list);
}

TEST(FindingCode, IsOfAFindingThatThereIs) {
    const auto code = sources();
    std::set<std::string_view> known;
    for (const auto& each : finding_kinds) {
        EXPECT_TRUE(known.insert(each.code).second) << each.code << " is there twice";
        EXPECT_NE(code.find('"' + std::string(each.code) + '"'), std::string::npos) << each.code;
    }
}

TEST(FindingCode, IsTheNameOfAnErrorWhereNoServerAnswers) {
    EXPECT_EQ(finding_code(errc::postgres_unavailable).text(), "postgres_unavailable");
    EXPECT_EQ(finding_code("slot_lost").text(), "slot_lost");
}

}  // namespace
}  // namespace walrelay
