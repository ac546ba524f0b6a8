// docs/log.md lists the events of the catalogue, and the program writes each of them. To write the
// list again: WALRELAY_WRITE_LOG_LIST=1 unit_tests --gtest_filter='LogDocumentation.*'
#include "core/log_entry.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <vector>

namespace walrelay {
namespace {

constexpr const char* file_name = WALRELAY_SOURCE_DIR "/docs/log.md";

std::string read_all(const std::filesystem::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

std::string fields_in_quotes(std::string_view fields) {
    std::istringstream names{std::string(fields)};
    std::string quoted;
    for (std::string name; names >> name;) {
        quoted += (quoted.empty() ? "`" : ", `") + name + "`";
    }
    return quoted;
}

std::string table_of(std::span<const log_event> events) {
    std::string text = "| event | level | fields | meaning | what to do |\n|---|---|---|---|---|\n";
    for (const auto& each : events) {
        text += "| `" + std::string(each.name) + "` | " + std::string(to_string(each.severity)) +
                " | " + fields_in_quotes(each.fields) + " | " + std::string(each.meaning) + " | " +
                std::string(each.what_to_do) + " |\n";
    }
    return text;
}

std::string list() {
    return "## Events of a relay\n\n" + table_of(log_events_relay) +
           "\n## Events of starts, snapshots, clean-up and commands\n\n" +
           table_of(log_events_work);
}

std::vector<log_event> all_events() {
    std::vector<log_event> all(log_events_relay.begin(), log_events_relay.end());
    all.insert(all.end(), log_events_work.begin(), log_events_work.end());
    return all;
}

/// Of all sources: what stands between `<"` and `">(`, the way in which an event is written.
std::set<std::string> written_events() {
    std::set<std::string> names;
    for (const auto& file :
         std::filesystem::recursive_directory_iterator(WALRELAY_SOURCE_DIR "/src")) {
        const auto extension = file.path().extension();
        if (extension != ".cpp" && extension != ".hpp") {
            continue;
        }
        const auto text = read_all(file.path());
        for (const std::string_view opening : {"log<\"", "log_tail<\"", "log_entry::of<\""}) {
            for (auto at = text.find(opening); at != std::string::npos;
                 at = text.find(opening, at)) {
                at += opening.size();
                const auto line = text.rfind('\n', at);
                const bool is_comment = text.find("//", line) < at;
                if (!is_comment) {
                    names.insert(text.substr(at, text.find('"', at) - at));
                }
            }
        }
    }
    return names;
}

bool is_name(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char each) {
        return (each >= 'a' && each <= 'z') || each == '_';
    });
}

TEST(LogDocumentation, ListsTheEventsOfTheCatalogue) {
    auto text = read_all(file_name);
    const auto begin = text.find("## Events of a relay\n");
    if (std::getenv("WALRELAY_WRITE_LOG_LIST") != nullptr) {
        text = text.substr(0, begin) + list();
        std::ofstream(file_name) << text;
    }
    ASSERT_LT(begin, text.size() + 1);
    EXPECT_EQ(text.substr(std::min(begin, text.size())), list())
        << "write it again, see the head of this test";
}

TEST(LogDocumentation, NamesNoEventThatIsNotWritten) {
    std::set<std::string> known;
    for (const auto& each : all_events()) {
        EXPECT_TRUE(known.insert(std::string(each.name)).second) << each.name << " is there twice";
    }
    EXPECT_EQ(written_events(), known);
}

TEST(LogDocumentation, SaysWhatToDoAboutWhatSomebodyShouldLookAt) {
    for (const auto& each : all_events()) {
        EXPECT_TRUE(is_name(each.name)) << each.name;
        EXPECT_TRUE(each.meaning.ends_with('.')) << each.name;
        EXPECT_TRUE(each.what_to_do.empty() || each.what_to_do.ends_with('.')) << each.name;
        EXPECT_FALSE(each.severity > log_severity::info && each.what_to_do.empty()) << each.name;
        EXPECT_EQ(each.meaning.find('|'), std::string_view::npos) << each.name;
    }
}

TEST(LogDocumentation, HasFieldsThatDoNotHideWhatEveryLineHas) {
    for (const auto& each : all_events()) {
        std::istringstream names{std::string(each.fields)};
        std::set<std::string> met{"time", "level", "event", "message"};
        met.insert(repeat_fields.begin(), repeat_fields.end());
        for (std::string name; names >> name;) {
            EXPECT_TRUE(is_name(name)) << each.name << ": " << name;
            EXPECT_TRUE(met.insert(name).second) << each.name << ": " << name;
        }
    }
}

}  // namespace
}  // namespace walrelay
