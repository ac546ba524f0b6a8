#include "core/log_entry.hpp"

#include "core/error.hpp"
#include "core/lsn.hpp"

#include <gtest/gtest.h>

namespace walrelay {
namespace {

using namespace std::chrono_literals;

TEST(LogEntry, HasTheSeverityOfItsEvent) {
    const auto line = log_entry::of<"slot_taken">("taken", with<"slot">(std::string("orders")));
    EXPECT_EQ(line.severity(), log_severity::info);
    EXPECT_EQ(line.event().name, "slot_taken");
    EXPECT_EQ(line.text(), "taken");
    const auto lost = log_entry::of<"postgres_lost">("lost", with<"error">(errc::postgres_lost),
                                                     with<"retry_seconds">(250ms));
    EXPECT_EQ(lost.severity(), log_severity::warning);
}

TEST(LogEntry, KeepsNumbersTimesAndNames) {
    const auto line = log_entry::of<"postgres_lost">("lost", with<"error">(errc::postgres_lost),
                                                     with<"retry_seconds">(250ms));
    ASSERT_EQ(line.fields().size(), 2U);
    EXPECT_EQ(line.fields()[0].name, "error");
    EXPECT_EQ(line.fields()[0].value, log_value(std::string("postgres_lost")));
    EXPECT_EQ(line.fields()[1].name, "retry_seconds");
    EXPECT_EQ(line.fields()[1].value, log_value(0.25));
}

TEST(LogEntry, KeepsNothingOfWhatIsNotKnown) {
    const auto line =
        log_entry::of<"stopped">("stopped", with<"messages">(std::size_t{7}),
                                 with<"slot">("orders"), with<"lsn">(std::optional<lsn>()));
    EXPECT_EQ(line.fields()[0].value, log_value(std::uint64_t{7}));
    EXPECT_EQ(line.fields()[1].value, log_value(std::string("orders")));
    EXPECT_EQ(line.fields()[2].value, log_value());
}

TEST(LogEntry, FindsNoEventThatIsNotInTheCatalogue) {
    static_assert(find_log_event("slot_taken") != nullptr);
    static_assert(find_log_event("slot_take") == nullptr);
    static_assert(find_log_event("") == nullptr);
}

}  // namespace
}  // namespace walrelay
