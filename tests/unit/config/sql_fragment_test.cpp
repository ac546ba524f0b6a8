// What may become a part of walrelay's statements.
#include "config/sql_fragment.hpp"

#include <gtest/gtest.h>

#include <string>

namespace walrelay::config {
namespace {

std::string wrong_predicate(const std::string& text) {
    const auto found = check_predicate(text);
    return found ? found->what : "";
}

std::string wrong_dead_letter(const std::string& text) {
    const auto found = check_dead_letter_set_list(text);
    return found ? found->what : "";
}

TEST(Predicate, MayBeAnyExpression) {
    for (const std::string text :
         {"", "status = 'pending'", "NOT sent", "published_at IS NULL AND (a OR \"b;\" > 1)",
          "status IN ('NEW', 'FAILED')", "a = 'it''s; -- fine'", R"(a = E'\'; --')",
          "payload @> '{\"a\": 1}'::jsonb", "wherever > 1", "cost$ > 1", "(a = '(')"}) {
        EXPECT_EQ(wrong_predicate(text), "") << text;
    }
}

TEST(Predicate, RefusesASecondStatement) {
    for (const std::string text : {"true; DROP TABLE a", "a = 'b';", R"(a = '\'; --')",
                                   R"(a = 'E'';'; c)", "a = E'b'';", "a = ''';"}) {
        EXPECT_NE(wrong_predicate(text), "") << text;
    }
    EXPECT_EQ(wrong_predicate("a;"), "holds a semicolon outside of quotes");
}

TEST(Predicate, RefusesWhatWouldSwallowTheRestOfTheStatement) {
    EXPECT_EQ(wrong_predicate("a -- all"), "holds a comment");
    EXPECT_EQ(wrong_predicate("a /* all"), "holds a comment");
    EXPECT_EQ(wrong_predicate("a = 'b"), "a quote is left open");
    EXPECT_EQ(wrong_predicate("\"a = 'b'"), "a quote is left open");
    EXPECT_EQ(wrong_predicate("a = $$b$$"), "holds a $ outside of quotes");
    EXPECT_EQ(wrong_predicate("a = $1"), "holds a $ outside of quotes");
}

TEST(Predicate, RefusesParenthesesThatReachOutOfIt) {
    EXPECT_EQ(wrong_predicate("a) OR (b"), "its parentheses do not match");
    EXPECT_EQ(wrong_predicate("(a"), "its parentheses do not match");
}

TEST(Predicate, FollowsAStringThatGoesOnOnTheNextLine) {
    EXPECT_EQ(wrong_predicate("a = E'b'\n'\\' || '; --"), "holds a semicolon outside of quotes");
    EXPECT_EQ(wrong_predicate("a = E'b'\n  '\\'; --'"), "");
    EXPECT_EQ(wrong_predicate("a = E'b' '\\'; c"), "holds a semicolon outside of quotes");
}

TEST(Predicate, LeavesItsMeaningToTheServer) {
    EXPECT_EQ(wrong_predicate("WHERE a = 1"), "");
    EXPECT_EQ(wrong_predicate("  "), "");
}

TEST(SetList, TakesAssignmentsWithoutTheWord) {
    EXPECT_FALSE(check_set_list("status = 'published', version = version + 1, tags = '{}'"));
    EXPECT_FALSE(check_set_list("(a, b) = (1, now()), \"set\" = true"));
}

TEST(SetList, KnowsNoPlaceholders) {
    EXPECT_EQ(check_set_list("a = {error}")->what, "holds a brace outside of quotes");
}

TEST(DeadLetterSetList, TakesErrorAndAttempts) {
    EXPECT_EQ(wrong_dead_letter("a = left({error}, 500), b = {attempts}, c = '{}'"), "");
    EXPECT_EQ(wrong_dead_letter("a = b"), "");
}

TEST(DeadLetterSetList, RefusesOtherPlaceholders) {
    const auto found = check_dead_letter_set_list("a = {reason}");
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(*found, complaint("holds a brace outside of quotes",
                                "the placeholders are {error} and {attempts}"));
}

TEST(DeadLetterSetList, RefusesAPlaceholderThatWouldLeaveItsQuotes) {
    EXPECT_EQ(wrong_dead_letter("a = 'failed: {error}'"), "{error} stands inside of quotes");
    EXPECT_EQ(wrong_dead_letter("\"{attempts}\" = 1"), "{attempts} stands inside of quotes");
}

}  // namespace
}  // namespace walrelay::config
