// The form of templates and the places of their errors.
#include "outbox/text_template.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace walrelay::outbox {
namespace {

using part = text_template::part;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<part> parts_of(std::string_view text) {
    return text_template::parse("subject", text).value().parts();
}

std::string complaint_about(std::string_view text) {
    const auto parsed = text_template::parse("subject", text);
    if (parsed) {
        return {};
    }
    EXPECT_EQ(parsed.error().code, errc::configuration_invalid);
    return parsed.error().what;
}

field no_member(std::string_view, std::string_view) {
    return std::nullopt;
}

TEST(TextTemplate, PartsLiteralTextAndNames) {
    EXPECT_THAT(parts_of("events.{type}.{name}"),
                ElementsAre(part{"events.", {"type"}}, part{".", {"name"}}));
}

TEST(TextTemplate, KeepsLiteralTextAtTheEnd) {
    EXPECT_THAT(parts_of("{type}-out-0"), ElementsAre(part{"", {"type"}}, part{"-out-0", {}}));
}

TEST(TextTemplate, TakesTextWithoutNames) {
    EXPECT_THAT(parts_of("plain"), ElementsAre(part{"plain", {}}));
    EXPECT_FALSE(text_template::parse("subject", "plain").value().has_names());
}

TEST(TextTemplate, TakesEmptyText) {
    EXPECT_THAT(parts_of(""), IsEmpty());
}

TEST(TextTemplate, TakesAnyOtherCharacterInNames) {
    EXPECT_THAT(parts_of("{Odd \"Name\".ü}"), ElementsAre(part{"", {"Odd \"Name\".ü"}}));
}

TEST(TextTemplate, PartsAlternatives) {
    EXPECT_THAT(parts_of("a{x|y|z}"), ElementsAre(part{"a", {"x", "y", "z"}}));
}

TEST(TextTemplate, TakesATextWhereAllAreNull) {
    EXPECT_THAT(parts_of("a.{x|y|'no type'}"), ElementsAre(part{"a.", {"x", "y"}, {}, "no type"}));
    EXPECT_TRUE(text_template::parse("subject", "{x|'y'}").value().has_otherwise());
    EXPECT_FALSE(text_template::parse("subject", "{x|y}").value().has_otherwise());
}

TEST(TextTemplate, RefusesTextThatIsNotTheLastOfSeveral) {
    for (const char* text : {"{'x'}", "{'x'|y}", "{y|'x'|z}", "{y|''}", "{y|'x}", "{y|'}",
                             "{y|'x'y'}", "{y|'a'|'b'}"}) {
        EXPECT_EQ(complaint_about(text),
                  "subject \"" + std::string(text) +
                      "\" has text in quotes that is not the last of several at offset 0");
    }
}

TEST(TextTemplate, NamesAMemberOfAColumn) {
    EXPECT_THAT(
        parts_of("{headers->>'tenant'}-{a|b->>'c'|'d'}"),
        ElementsAre(part{"", {"headers"}, {"tenant"}}, part{"-", {"a", "b"}, {"", "c"}, "d"}));
    EXPECT_TRUE(text_template::parse("header", "{a->>'b'}").value().has_keys());
    EXPECT_EQ(complaint_about("{->>'b'}"),
              "subject \"{->>'b'}\" has no name between the braces at offset 0");
    // Without quotes it may be the name of a column.
    EXPECT_THAT(parts_of("{a->>b}"), ElementsAre(part{"", {"a->>b"}}));
}

TEST(TextTemplate, KnowsWhetherANameEndsIt) {
    EXPECT_TRUE(text_template::parse("subject", "a.{x}").value().ends_with_name());
    EXPECT_FALSE(text_template::parse("subject", "a.{x}-0").value().ends_with_name());
    EXPECT_FALSE(text_template::parse("subject", "").value().ends_with_name());
}

TEST(TextTemplate, NamesThePlaceOfAStrayBrace) {
    EXPECT_EQ(complaint_about("events.{type"),
              "subject \"events.{type\" has a stray \"{\" at offset 7");
    EXPECT_EQ(complaint_about("a}b"), "subject \"a}b\" has a stray \"}\" at offset 1");
    EXPECT_EQ(complaint_about("{a}}"), "subject \"{a}}\" has a stray \"}\" at offset 3");
    EXPECT_EQ(complaint_about("x{{a}}"), "subject \"x{{a}}\" has a stray \"{\" at offset 1");
}

TEST(TextTemplate, RefusesAnEmptyName) {
    EXPECT_EQ(complaint_about("a.{}"),
              "subject \"a.{}\" has no name between the braces at offset 2");
    for (const char* text : {"{|}", "{x|}", "{|x}", "{x||y}"}) {
        EXPECT_EQ(complaint_about(text), "subject \"" + std::string(text) +
                                             "\" has no name between the braces at offset 0");
    }
}

TEST(TextTemplate, RendersUpToTheFieldThatIsRefused) {
    const auto form = text_template::parse("subject", "a{x}b{y}c{z}").value();
    const std::vector<field> fields = {"one", std::nullopt, "three"};
    std::string text;
    std::uint32_t culprit = 99;
    const bool complete = render(
        form, {2, 1, 0}, fields, culprit, no_member,
        [&](std::string_view literal) { text += literal; },
        [&](const field& value) {
            text += value.value_or("");
            return value.has_value();
        });
    EXPECT_FALSE(complete);
    EXPECT_EQ(culprit, 1U);
    EXPECT_EQ(text, "athreeb");
}

TEST(TextTemplate, RendersTheFirstAlternativeThatIsNotNull) {
    const auto form = text_template::parse("subject", "{x|y}-{y|x}-{z|y|z}").value();
    const std::vector<field> fields = {std::nullopt, "", "three"};
    std::string text;
    std::uint32_t culprit = 99;
    EXPECT_TRUE(render(
        form, {0, 2, 2, 0, 0, 0, 1}, fields, culprit, no_member,
        [&](std::string_view literal) { text += literal; },
        [&](const field& value) {
            text += value.value_or("NULL");
            return value.has_value();
        }));
    EXPECT_EQ(text, "three-three-") << "an empty text is not NULL";
}

TEST(TextTemplate, BlamesTheLastAlternativeWhereAllAreNull) {
    const auto form = text_template::parse("subject", "{x|y}").value();
    const std::vector<field> fields = {std::nullopt, std::nullopt};
    std::uint32_t culprit = 99;
    EXPECT_FALSE(render(
        form, {1, 0}, fields, culprit, no_member, [](std::string_view) {},
        [](const field& value) { return value.has_value(); }));
    EXPECT_EQ(culprit, 0U);
}

TEST(TextTemplate, RendersWhatCounts) {
    const auto rendered = [](const char* written, const std::vector<field>& fields) {
        const auto form = text_template::parse("header", written).value();
        column_indexes columns(fields.size());
        std::iota(columns.begin(), columns.end(), 0U);
        std::string text;
        std::uint32_t culprit = 0;
        render(
            form, columns, fields, culprit,
            [](std::string_view json, std::string_view key) {
                return json == "has it" ? field(key) : std::nullopt;
            },
            [&](std::string_view literal) { text += literal; },
            [&](const field& value) {
                text += value.value_or("NULL");
                return true;
            });
        return text;
    };
    EXPECT_EQ(rendered("{a|b}.{c}", {std::nullopt, "b", "c"}), "b.c");
    EXPECT_EQ(rendered("{a|b|'none'}.{c}", {std::nullopt, std::nullopt, "c"}), "none.c");
    EXPECT_EQ(rendered("{a|'none'}", {""}), "");
    EXPECT_EQ(rendered("{a->>'key'|b}", {"has it", "b"}), "key");
    EXPECT_EQ(rendered("{a->>'key'|b}", {"has not", "b"}), "b");
    EXPECT_EQ(rendered("{a->>'key'}", {std::nullopt}), "NULL");
}

}  // namespace
}  // namespace walrelay::outbox
