// The printed walrelay.toml.
#include "config/sample_file.hpp"

#include "unit/config/loading.hpp"

#include <algorithm>
#include <set>
#include <sstream>

namespace walrelay::config {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

/// With the # of every `#key = value` removed, but for the keys named.
std::string uncommented(const std::string& text, const std::set<std::string>& without = {}) {
    std::istringstream lines(text);
    std::string made;
    for (std::string line; std::getline(lines, line);) {
        const bool is_key = line.size() > 1 && line[0] == '#' && line[1] != ' ';
        const std::string name = is_key ? line.substr(1, line.find(' ') - 1) : "";
        made += is_key && !without.contains(name) ? line.substr(1) : line;
        made += '\n';
    }
    return made;
}

TEST(SampleFile, HoldsEveryKeyThatIsThereOnce) {
    const std::string lines = '\n' + sample_file({});
    for (const key& row : keys()) {
        const std::string line = "\n#" + std::string(row.name) + " = ";
        // Two sections can have a key of one name.
        const auto wanted = std::ranges::count(keys(), row.name, &key::name);
        auto found = 0;
        for (auto at = lines.find(line); at != std::string::npos; at = lines.find(line, at + 1)) {
            ++found;
        }
        EXPECT_EQ(found, wanted) << row.full_name();
    }
}

TEST(SampleFile, SetsNothingByItself) {
    auto from = from_file(sample_file({}));
    from.flags = essential_flags;
    const auto loaded = must_load(from);
    EXPECT_EQ(loaded.postgres.slot, settings{}.postgres.slot);
    EXPECT_THAT(problems_of(from_file(sample_file({}))), testing::SizeIs(2));
}

TEST(SampleFile, IsAConfigurationWithoutItsMarks) {
    const auto text = uncommented(sample_file({}), {"message_prefix"});
    EXPECT_THAT(problems_of(from_file(text)), IsEmpty()) << text;
}

TEST(SampleFile, ShowsTheDefaults) {
    const auto text = uncommented(sample_file({}), {"message_prefix"});
    const auto loaded = must_load(from_file(text));
    for (const key& row : keys()) {
        if (row.section == "outbox" || row.default_value().empty()) {
            continue;
        }
        settings held = loaded;
        EXPECT_EQ(row.takes.show({held, held.outbox.front()}), row.default_value())
            << row.full_name();
    }
}

TEST(SampleFile, BeginsWithWhatIsRequired) {
    const auto text = sample_file({});
    EXPECT_LT(text.find("[postgres]"), text.find("#conninfo"));
    EXPECT_LT(text.find("#conninfo"), text.find("#slot"));
    EXPECT_LT(text.find("[[outbox]]"), text.find("[delivery]"));
}

TEST(SampleFile, IsNotWiderThanAHundredColumnsWhereItExplains) {
    std::istringstream lines(
        sample_file({.notes = {std::string(30, 'x') + std::string(300, ' ')}}));
    for (std::string line; std::getline(lines, line);) {
        EXPECT_LE(line.size(), 100U) << line;
    }
}

TEST(SampleFile, SetsAndProposes) {
    const auto text =
        sample_file({.set = {{"outbox.table", "\"a.b\""}, {"postgres.conninfo", "\"c\""}},
                     .proposed = {{"outbox.pending", "\"NOT sent\""}},
                     .notes = {"A note."}});
    EXPECT_THAT(text, HasSubstr("\ntable = \"a.b\"\n"));
    EXPECT_THAT(text, HasSubstr("\n#pending = \"NOT sent\"\n"));
    EXPECT_THAT(text, HasSubstr("[[outbox]]\n# A note.\n"));
    EXPECT_EQ(must_load(from_file(text)).outbox.front().table, (table_name{"a", "b"}));
}

TEST(TomlText, IsReadBackAsItWas) {
    const std::string odd = "a\"b\\c\n\x01\x7f\u00e4'";
    const auto loaded = must_load_beside_essentials("subject = " + toml_text(odd) + "\n");
    EXPECT_EQ(loaded.outbox.front().subject, odd);
}

TEST(FileNotation, SaysOfAFlagWhatTheFileSays) {
    EXPECT_EQ(file_notation(*find_key("nats.urls"), "nats://a, nats://b"),
              "[\"nats://a\", \"nats://b\"]");
    EXPECT_EQ(file_notation(*find_key("nats.replicas"), "3"), "3");
    EXPECT_EQ(file_notation(*find_key("outbox.table"), R"("A"."b")"), R"("\"A\".\"b\"")");
}

}  // namespace
}  // namespace walrelay::config
