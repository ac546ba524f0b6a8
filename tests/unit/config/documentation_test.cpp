// docs/configuration.md says of every key what the table of keys and the defaults say, and names no
// key that is not there.
#include "config/keys.hpp"
#include "core/column_role.hpp"
#include "unit/config/key_facts.hpp"
#include "unit/config/loading.hpp"

#include <fstream>
#include <map>
#include <set>
#include <sstream>

namespace walrelay::config {
namespace {

std::string document() {
    std::ifstream file(WALRELAY_SOURCE_DIR "/docs/configuration.md");
    EXPECT_TRUE(file.is_open());
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

/// With every run of blanks and line ends as one blank.
std::string unwrapped(const std::string& text) {
    std::istringstream words(text);
    std::string joined;
    for (std::string word; words >> word;) {
        joined += (joined.empty() ? "" : " ") + word;
    }
    return joined;
}

struct entry {
    std::string name;
    std::string text;
};

/// The parts below headings of the third level, which are the names of keys.
std::vector<entry> documented_keys() {
    std::vector<entry> entries;
    std::istringstream lines(document());
    bool inside = false;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("### ")) {
            entries.push_back({line.substr(4), ""});
        }
        inside = line.starts_with("#") ? line.starts_with("### ") : inside;
        if (inside && !line.starts_with("#")) {
            entries.back().text += line + '\n';
        }
    }
    return entries;
}

std::vector<std::string> toml_examples() {
    std::vector<std::string> examples;
    std::istringstream lines(document());
    bool inside = false;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("```")) {
            inside = line == "```toml";
            if (inside) {
                examples.emplace_back();
            }
        } else if (inside) {
            examples.back() += line + '\n';
        }
    }
    return examples;
}

TEST(Documentation, HoldsEveryKeyAndNoOther) {
    std::vector<std::string> documented;
    for (const entry& each : documented_keys()) {
        documented.push_back(each.name);
    }
    std::vector<std::string> known;
    for (const key& row : keys()) {
        known.push_back(row.full_name());
    }
    EXPECT_EQ(documented, known);
}

TEST(Documentation, SaysOfEachKeyWhatTheTableAndTheDefaultsSay) {
    for (const entry& each : documented_keys()) {
        const key* row = find_key(each.name);
        ASSERT_NE(row, nullptr) << each.name;
        EXPECT_EQ(unwrapped(each.text),
                  unwrapped(facts_of(*row) + ' ' + std::string(row->documentation)))
            << each.name;
    }
}

TEST(Documentation, NamesEveryRoleOfAColumn) {
    const std::string_view text = find_key("outbox.columns")->documentation;
    for (const auto role : all_roles) {
        const std::string name(to_string(role));
        EXPECT_NE(text.find('`' + name + '`'), std::string_view::npos) << name;
    }
}

TEST(Documentation, GivesExamplesThatLoad) {
    const auto examples = toml_examples();
    ASSERT_GE(examples.size(), 2U);
    for (const std::string& example : examples) {
        auto from = from_file(example);
        from.flags = {{"postgres.conninfo", "dbname=app"}};
        EXPECT_THAT(problems_of(from), testing::IsEmpty()) << example;
    }
}

}  // namespace
}  // namespace walrelay::config
