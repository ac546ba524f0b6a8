// Every command of README, docs and examples is run as it stands there, in order, and what a
// document says that one will see is compared with what one sees. What is not run says why.
#include "documents/document_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <regex>
#include <sstream>

namespace walrelay::test {
namespace {

namespace fs = std::filesystem;

/// Run by systems_migrating_e2etest, step by step beside writers and a poller.
constexpr const char* run_elsewhere = "docs/migrating.md";

std::string text_of(const fs::path& path) {
    std::ifstream in(path);
    std::stringstream all;
    all << in.rdbuf();
    return all.str();
}

/// Relative to the sources.
std::vector<std::string> documents() {
    const fs::path source = WALRELAY_SOURCE_FOLDER;
    std::vector<std::string> found{"README.md", "sql/README.md", "benchmarks/peers/README.md"};
    for (const auto* folder : {"docs", "examples"}) {
        for (const auto& entry : fs::recursive_directory_iterator(source / folder)) {
            if (entry.path().extension() == ".md") {
                found.push_back(fs::relative(entry.path(), source).string());
            }
        }
    }
    std::ranges::sort(found);
    return found;
}

bool has_commands(const document& read) {
    return std::ranges::any_of(read.blocks, [](const auto& block) {
        return block.not_run.empty() &&
               (block.language == "sh" || block.language == "sql" || block.language == "toml");
    });
}

std::vector<std::string> documents_with_commands() {
    auto all = documents();
    std::erase_if(all, [](const auto& name) {
        return name == run_elsewhere ||
               !has_commands(read_document(text_of(fs::path(WALRELAY_SOURCE_FOLDER) / name)));
    });
    return all;
}

class Documents : public testing::TestWithParam<std::string> {};

TEST_P(Documents, DoWhatTheySay) {
    document_run run(read_document(text_of(fs::path(WALRELAY_SOURCE_FOLDER) / GetParam())));
    EXPECT_EQ(run.work(), "") << GetParam();
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
    return std::regex_replace(info.param, std::regex("[^A-Za-z0-9]+"), "_");
}

INSTANTIATE_TEST_SUITE_P(, Documents, testing::ValuesIn(documents_with_commands()), test_name);

TEST(AllDocuments, SayOfEveryBlockWhatItIsAndWhyItIsNotRun) {
    constexpr std::size_t least_reason = 15;
    for (const auto& name : documents()) {
        const auto read = read_document(text_of(fs::path(WALRELAY_SOURCE_FOLDER) / name));
        for (const auto line : read.unfenced) {
            ADD_FAILURE() << name << ":" << line << ": fence this block and say its language";
        }
        for (const auto& block : read.blocks) {
            EXPECT_NE(block.language, "") << name << ":" << block.line;
            EXPECT_TRUE(block.not_run.empty() || block.not_run.size() >= least_reason)
                << name << ":" << block.line << ": say why it is not run";
        }
    }
}

/// As GitHub makes it of a heading: small letters and digits, a blank becomes a dash.
std::string anchor_of(const std::string& heading) {
    std::string made;
    for (const char each : heading) {
        if (std::isalnum(static_cast<unsigned char>(each)) != 0 || each == '_' || each == '-') {
            made += static_cast<char>(std::tolower(static_cast<unsigned char>(each)));
        } else if (each == ' ') {
            made += '-';
        }
    }
    return made;
}

bool has_heading(const std::string& text, const std::string& anchor) {
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        const auto level = line.find_first_not_of('#');
        if (level != 0 && level != std::string::npos && line[level] == ' ' &&
            anchor_of(line.substr(level + 1)) == anchor) {
            return true;
        }
    }
    return false;
}

TEST(AllDocuments, LinkToWhatExists) {
    const fs::path source = WALRELAY_SOURCE_FOLDER;
    const std::regex link(R"(\]\(([^)#\s]*)(?:#([^)\s]*))?\))");
    for (const auto& name : documents()) {
        const auto text = text_of(source / name);
        for (std::sregex_iterator at(text.begin(), text.end(), link), end; at != end; ++at) {
            const auto target = (*at)[1].str();
            if (target.find("://") != std::string::npos) {
                continue;
            }
            const auto path =
                target.empty() ? source / name : (source / name).parent_path() / target;
            EXPECT_TRUE(fs::exists(path)) << name << " links to " << target;
            const auto anchor = (*at)[2].str();
            EXPECT_TRUE(anchor.empty() || has_heading(text_of(path), anchor))
                << name << " links to " << target << "#" << anchor;
        }
    }
}

/// The page of a folder that leads to the others.
TEST(AllDocuments, AreFoundFromTheFirstPageOfTheirFolder) {
    const fs::path source = WALRELAY_SOURCE_FOLDER;
    for (const auto* folder : {"docs", "docs/recipes"}) {
        const auto first_page = text_of(source / folder / "README.md");
        for (const auto& entry : fs::directory_iterator(source / folder)) {
            const auto name = entry.path().filename().string();
            if (entry.path().extension() == ".md" && name != "README.md") {
                EXPECT_NE(first_page.find("](" + name), std::string::npos)
                    << folder << "/README.md does not link to " << name;
            }
        }
    }
    const auto first_page = text_of(source / "docs/README.md");
    EXPECT_NE(first_page.find("](recipes/README.md)"), std::string::npos);
    EXPECT_NE(text_of(source / "README.md").find("](docs/README.md)"), std::string::npos);
}

}  // namespace
}  // namespace walrelay::test
