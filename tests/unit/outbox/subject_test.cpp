// Subjects: tokens out of values, and literal text that NATS takes.
#include "outbox/subject.hpp"

#include "unit/outbox/random_text.hpp"

#include <gtest/gtest.h>

#include <set>

namespace walrelay::outbox {
namespace {

std::string token(std::string_view value) {
    std::string subject = "a.";
    append_subject_token(subject, value);
    return subject.substr(2);
}

std::string tail(std::string_view value) {
    std::string subject = "a.";
    append_subject_tail(subject, value);
    return subject.substr(2);
}

std::string complaint_about(std::string_view subject) {
    const auto checked = check_subject(text_template::parse("subject", subject).value());
    return checked ? "" : checked.error().what;
}

std::string pattern_of(std::string_view subject) {
    return subject_pattern(text_template::parse("subject", subject).value());
}

std::string pattern_for_order_7(std::string_view subject) {
    return subject_pattern(text_template::parse("subject", subject).value(),
                           [](std::string_view name) -> std::optional<std::string_view> {
                               if (name == "type") {
                                   return "order";
                               }
                               return name == "id" ? std::optional<std::string_view>("$7.a")
                                                   : std::nullopt;
                           });
}

TEST(SubjectPattern, HasTheTokensOfWhatIsKnown) {
    EXPECT_EQ(pattern_for_order_7("events.{type}.{id}.{kind}"), "events.order.$7%2Ea.>");
    EXPECT_EQ(pattern_for_order_7("events.{kind}.{type}-{id}.x"), "events.*.order-$7%2Ea.x");
    EXPECT_EQ(pattern_for_order_7("{id}.{type}{kind}.x"), "%247%2Ea.*.x");
    EXPECT_EQ(pattern_for_order_7("{kind}{type}.x"), "*.x");
    EXPECT_EQ(pattern_for_order_7("events.{type}.{id}"), "events.order.$7.a") << "the end has dots";
    EXPECT_EQ(pattern_for_order_7("events.{id|kind}.{kind|id}.x"), "events.$7%2Ea.*.x");
    EXPECT_EQ(pattern_for_order_7("events.x"), "events.x");
}

TEST(SubjectToken, LeavesOrdinaryValuesAsTheyAre) {
    EXPECT_EQ(token("order_placed-7:a/b"), "order_placed-7:a/b");
    EXPECT_EQ(token("Größe-日本"), "Größe-日本");
}

TEST(SubjectToken, EncodesWhatNatsGivesAMeaning) {
    EXPECT_EQ(token("user.created"), "user%2Ecreated");
    EXPECT_EQ(token("a*b>c"), "a%2Ab%3Ec");
    EXPECT_EQ(token(" a\tb\r\n"), "%20a%09b%0D%0A");
    EXPECT_EQ(token("\x7f"), "%7F");
    EXPECT_EQ(token("100%"), "100%25");
}

TEST(SubjectToken, EncodesADollarOnlyWhereTheSubjectBegins) {
    EXPECT_EQ(token("$x"), "$x");
    std::string subject;
    append_subject_token(subject, "$JS$.x");
    EXPECT_EQ(subject, "%24JS$%2Ex");
}

TEST(SubjectToken, IsOneTokenThatCanBeDecodedForAnyValue) {
    constexpr unsigned seed = 20240229;
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    for (int round = 0; round < 5000; ++round) {
        const auto value = test::random_text(random, ".*> %$aZ\t\r\n\x01\x7f\xc3\xbc-2E", 12);
        std::string subject;
        append_subject_token(subject, value);
        EXPECT_EQ(subject.find_first_of(" .*>\t\r\n\x01\x7f"), std::string::npos) << subject;
        EXPECT_FALSE(subject.starts_with('$'));
        EXPECT_EQ(test::percent_decoded(subject), value);
    }
}

TEST(SubjectTail, KeepsItsDots) {
    EXPECT_EQ(tail("user.created"), "user.created");
    EXPECT_EQ(tail("a.*.> b.100%"), "a.%2A.%3E%20b.100%25");
    EXPECT_EQ(tail("plain"), "plain");
}

TEST(SubjectTail, IsOneTokenWhereATokenOfItWouldBeEmpty) {
    EXPECT_EQ(tail("."), "%2E");
    EXPECT_EQ(tail(".a.b"), "%2Ea%2Eb");
    EXPECT_EQ(tail("a.b."), "a%2Eb%2E");
    EXPECT_EQ(tail("a..b.c"), "a%2E%2Eb%2Ec");
}

TEST(SubjectTail, EncodesADollarOnlyWhereTheSubjectBegins) {
    std::string subject;
    append_subject_tail(subject, "$JS.$API");
    EXPECT_EQ(subject, "%24JS.$API");
}

TEST(SubjectTail, IsTokensThatCanBeDecodedForAnyValue) {
    constexpr unsigned seed = 20260101;
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    for (int round = 0; round < 5000; ++round) {
        const auto value = test::random_text(random, "..*> %$aZ\t\r\n\x01\x7f\xc3\xbc-2E", 12);
        std::string subject = "a.";
        append_subject_tail(subject, value);
        EXPECT_EQ(subject.find_first_of(" *>\t\r\n\x01\x7f"), std::string::npos) << subject;
        EXPECT_EQ(subject.find(".."), std::string::npos) << subject;
        EXPECT_TRUE(value.empty() || !subject.ends_with('.')) << subject;
        EXPECT_EQ(test::percent_decoded(subject.substr(2)), value);
    }
}

TEST(Subject, TakesTokensPartedByDots) {
    EXPECT_EQ(complaint_about("events.{a}.{b}"), "");
    EXPECT_EQ(complaint_about("{a}{b}-out-0"), "");
    EXPECT_EQ(complaint_about("a.$b"), "");
}

TEST(Subject, RefusesEmptyTokens) {
    for (const char* subject : {"", ".", "a.", ".a", "a..b", "{x}.", ".{x}", "a.{x}..{y}"}) {
        EXPECT_EQ(complaint_about(subject),
                  "subject \"" + std::string(subject) + "\" has an empty token");
    }
}

TEST(Subject, RefusesWildcardsBlanksAndTheServersOwn) {
    EXPECT_EQ(complaint_about("a.*"), "subject \"a.*\" has a wildcard in its literal text");
    EXPECT_EQ(complaint_about("a.>"), "subject \"a.>\" has a wildcard in its literal text");
    EXPECT_EQ(complaint_about("a b"),
              "subject \"a b\" has a blank or control character in its literal text");
    EXPECT_EQ(complaint_about("$JS.{x}"),
              "subject \"$JS.{x}\" begins with \"$\", which is the server's own");
}

TEST(Subject, ShowsTokensWithColumnsAsWildcards) {
    EXPECT_EQ(pattern_of("events.{a}.{b}"), "events.*.>");
    EXPECT_EQ(pattern_of("{a}{b}-out-0.x"), "*.x");
    EXPECT_EQ(pattern_of("t-{a}.x.y-{b}-z"), "*.x.*");
    EXPECT_EQ(pattern_of("{a}"), ">");
    EXPECT_EQ(pattern_of("x.t-{a}"), "x.>");
    EXPECT_EQ(pattern_of("fixed.subject"), "fixed.subject");
}

}  // namespace
}  // namespace walrelay::outbox
