#include "log/log_text.hpp"

#include "core/error.hpp"

#include <gtest/gtest.h>

#include <string>

namespace walrelay {
namespace {

using namespace std::chrono_literals;

log_entry deleted(std::string table) {
    return log_entry::of<"rows_deleted">("deleted 5 rows", with<"table">(std::move(table)),
                                         with<"rows">(5U));
}

/// Without time and level.
std::string text_of(const log_entry& line) {
    const auto text = text_line(line, wall_time{});
    EXPECT_TRUE(text.ends_with("]\n")) << text;
    constexpr std::size_t before = 33;
    return text.substr(before, text.size() - before - 1);
}

/// The same.
std::string json_members_of(const log_entry& line) {
    const auto text = json_line(line, wall_time{});
    EXPECT_TRUE(text.ends_with("}\n")) << text;
    const auto begin = text.find("\"event\"");
    return text.substr(begin, text.size() - begin - 2);
}

TEST(LogText, BeginsWithTimeAndLevel) {
    const wall_time at{1772356364102345us};
    EXPECT_EQ(text_line(deleted("a"), at),
              "2026-03-01T09:12:44.102Z info    deleted 5 rows [rows_deleted table=a rows=5]\n");
    EXPECT_TRUE(json_line(deleted("a"), at)
                    .starts_with(R"({"time":"2026-03-01T09:12:44.102Z","level":"info",)"));
}

TEST(LogText, TellsTheJournalOfThePriority) {
    EXPECT_EQ(priority_prefix(log_severity::debug), "<7>");
    EXPECT_EQ(priority_prefix(log_severity::info), "<6>");
    EXPECT_EQ(priority_prefix(log_severity::warning), "<4>");
    EXPECT_EQ(priority_prefix(log_severity::error), "<3>");
}

TEST(LogText, PutsNameAndFieldsAfterTheSentence) {
    EXPECT_EQ(text_of(deleted("public.orders")),
              "deleted 5 rows [rows_deleted table=public.orders rows=5]");
    EXPECT_EQ(
        json_members_of(deleted("public.orders")),
        R"("event":"rows_deleted","message":"deleted 5 rows","table":"public.orders","rows":5)");
}

TEST(LogText, WritesTimesInSeconds) {
    const auto line = log_entry::of<"postgres_lost">("gone", with<"error">(errc::postgres_lost),
                                                     with<"retry_seconds">(250ms));
    EXPECT_EQ(text_of(line), "gone [postgres_lost error=postgres_lost retry_seconds=0.250]");
    EXPECT_EQ(json_members_of(line), R"("event":"postgres_lost","message":"gone",)"
                                     R"("error":"postgres_lost","retry_seconds":0.250)");
}

TEST(LogText, LeavesOutWhatIsNotKnown) {
    const auto line = log_entry::of<"stopped">("stopped", with<"messages">(0U), with<"slot">("a"),
                                               with<"lsn">(std::optional<std::string>()));
    EXPECT_EQ(text_of(line), "stopped [stopped messages=0 slot=a]");
    EXPECT_EQ(json_members_of(line),
              R"("event":"stopped","message":"stopped","messages":0,"slot":"a")");
    const auto without = log_entry::of<"resumed">("resumed");
    EXPECT_EQ(text_of(without), "resumed [resumed]");
}

TEST(LogText, LetsForeignTextAddNoField) {
    EXPECT_EQ(text_of(deleted("a b rows=9")),
              R"(deleted 5 rows [rows_deleted table="a b rows=9" rows=5])");
    EXPECT_EQ(text_of(deleted("a] [halted")),
              R"(deleted 5 rows [rows_deleted table="a\u005d \u005bhalted" rows=5])");
    EXPECT_EQ(text_of(deleted("")), R"(deleted 5 rows [rows_deleted table="" rows=5])");
    EXPECT_EQ(text_of(deleted("a\"b")), R"(deleted 5 rows [rows_deleted table="a\"b" rows=5])");
    EXPECT_EQ(
        json_members_of(deleted("a\",\"rows\":9")),
        R"("event":"rows_deleted","message":"deleted 5 rows","table":"a\",\"rows\":9","rows":5)");
}

TEST(LogText, LetsForeignTextAddNoLine) {
    const auto line = log_entry::of<"control_row_ignored">(
        "row\n2026-03-01T09:12:44.102Z error forged", with<"slot">("a\nb\x1b[2J"));
    const auto text = text_of(line);
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
    EXPECT_EQ(text.rfind(" ["), text.find(" [control_row_ignored ")) << text;
    EXPECT_EQ(json_members_of(line).find('\n'), std::string::npos);
}

TEST(LogText, IsAShortLineWhateverIsSaid) {
    const auto line = log_entry::of<"control_row_ignored">(std::string(100'000, 'x'),
                                                           with<"slot">(std::string(9999, 'y')));
    EXPECT_LT(text_of(line).size(), 6000U);
    EXPECT_LT(json_members_of(line).size(), 6000U);
}

}  // namespace
}  // namespace walrelay
