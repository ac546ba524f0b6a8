#include "log/log_fold.hpp"

#include "core/error.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace walrelay {
namespace {

using namespace std::chrono_literals;

class LogFold : public testing::Test {
protected:
    static log_entry lost(const std::string& text, errc why = errc::broker_lost) {
        return log_entry::of<"broker_lost">(text, with<"error">(why), with<"retry_seconds">(100ms),
                                            with<"messages">(7U));
    }
    static log_entry resumed() { return log_entry::of<"resumed">("resumed"); }

    /// The sentences that are written as this line comes.
    std::vector<std::string> take(log_entry line) {
        return texts(fold_.take(std::move(line), now_));
    }
    std::vector<std::string> after(std::chrono::milliseconds time) {
        now_ += time;
        return texts(fold_.due(now_));
    }
    std::vector<std::string> end() { return texts(fold_.end(now_)); }

    static std::vector<std::string> texts(const std::vector<log_entry>& lines) {
        std::vector<std::string> list;
        list.reserve(lines.size());
        for (const auto& each : lines) {
            list.push_back(each.text());
        }
        return list;
    }

    using lines = std::vector<std::string>;
    monotonic_time now_{1h};
    log_fold fold_;
};

TEST_F(LogFold, WritesTheFirstLineAtOnceAndCountsTheRest) {
    EXPECT_EQ(take(lost("gone; trying again in 0.1 s")), lines{"gone; trying again in 0.1 s"});
    EXPECT_EQ(take(lost("gone; trying again in 0.2 s")), lines{});
    EXPECT_EQ(take(lost("gone; trying again in 12.75 s")), lines{});
    EXPECT_EQ(after(29s), lines{});
    EXPECT_EQ(after(1s), lines{"again, 2 times in 30 s: gone; trying again in 12.75 s"});
    EXPECT_EQ(take(lost("gone; trying again in 1.0 s")), lines{}) << "it goes on";
    EXPECT_EQ(after(30s), lines{"again, 1 time in 30 s: gone; trying again in 1.0 s"});
    EXPECT_EQ(after(30s), lines{});
    EXPECT_EQ(take(lost("gone")), lines{"gone"}) << "long quiet: it begins anew";
}

TEST_F(LogFold, HidesNoLineOfAnotherKind) {
    EXPECT_EQ(take(lost("gone")).size(), 1U);
    EXPECT_EQ(take(lost("not let in")), lines{"not let in"});
    EXPECT_EQ(take(lost("gone", errc::broker_unavailable)), lines{"gone"}) << "another field";
    EXPECT_EQ(take(log_entry::of<"control_row_ignored">("gone", with<"slot">("a"))), lines{"gone"});
    EXPECT_EQ(take(log_entry::of<"control_row_ignored">("gone", with<"slot">("b"))), lines{"gone"});
    EXPECT_EQ(take(lost("gone")), lines{});
}

TEST_F(LogFold, IsOverWhenSomethingElseIsSaid) {
    EXPECT_EQ(take(lost("gone")).size(), 1U);
    EXPECT_EQ(take(lost("gone")).size(), 0U);
    now_ += 4s;
    EXPECT_EQ(take(resumed()), (lines{"again, 1 time in 4 s: gone", "resumed"}));
    EXPECT_EQ(take(resumed()), lines{"resumed"}) << "it may be of something else";
    EXPECT_EQ(take(lost("gone")), lines{"gone"});
}

TEST_F(LogFold, CountsTroubleAndItsEndWhereBothComeAgainAndAgain) {
    for (unsigned time = 0; time < log_fold::news_max; ++time) {
        EXPECT_EQ(take(lost("gone; trying again in 0.1 s")), lines{"gone; trying again in 0.1 s"});
        EXPECT_EQ(take(resumed()), lines{"resumed"});
    }
    for (std::size_t time = 0; time < 5; ++time) {
        now_ += 2s;
        EXPECT_EQ(take(lost("gone; trying again in 0.2 s")), lines{});
        EXPECT_EQ(take(resumed()), lines{});
        EXPECT_EQ(take(lost("of another kind " + std::string(time, 'x'))).size(), 1U);
    }
    // The last one says how it is.
    EXPECT_EQ(after(20s), (lines{"again, 5 times in 30 s: gone; trying again in 0.2 s",
                                 "again, 5 times in 30 s: resumed"}));
    EXPECT_EQ(take(lost("gone; trying again in 0.1 s")), lines{}) << "it goes on";
    EXPECT_EQ(after(30s), lines{"again, 1 time in 30 s: gone; trying again in 0.1 s"});
    EXPECT_EQ(after(30s), lines{});
    EXPECT_EQ(take(lost("gone; trying again in 0.1 s")).size(), 1U) << "it begins anew";
}

TEST_F(LogFold, SaysLastHowItIsWhereTheTroubleLasts) {
    for (unsigned time = 0; time < log_fold::news_max; ++time) {
        EXPECT_EQ(take(lost("gone")).size(), 1U);
        EXPECT_EQ(take(resumed()).size(), 1U);
    }
    now_ += 1s;
    EXPECT_EQ(take(resumed()), lines{});
    now_ += 1s;
    EXPECT_EQ(take(lost("gone")), lines{});
    EXPECT_EQ(after(28s), (lines{"again, 1 time in 30 s: resumed", "again, 1 time in 30 s: gone"}));
}

TEST_F(LogFold, SaysAtTheEndWhatItHasCounted) {
    EXPECT_EQ(take(lost("gone")).size(), 1U);
    EXPECT_EQ(take(lost("gone")).size(), 0U);
    EXPECT_EQ(end(), lines{"again, 1 time in 0 s: gone"});
    EXPECT_EQ(end(), lines{});
}

TEST_F(LogFold, SaysHowOftenInFieldsToo) {
    EXPECT_EQ(fold_.take(lost("gone"), now_).size(), 1U);
    EXPECT_EQ(fold_.take(lost("gone"), now_).size(), 0U);
    const auto due = fold_.due(now_ + 30s);
    ASSERT_EQ(due.size(), 1U);
    EXPECT_EQ(due[0].event().name, "broker_lost");
    ASSERT_EQ(due[0].fields().size(), 5U);
    EXPECT_EQ(due[0].fields()[3].name, "repeats");
    EXPECT_EQ(due[0].fields()[3].value, log_value(std::uint64_t{1}));
    EXPECT_EQ(due[0].fields()[4].name, "repeat_seconds");
    EXPECT_EQ(due[0].fields()[4].value, log_value(30.0));
}

TEST_F(LogFold, CountsTwoServersThatAreAwayAtOnce) {
    EXPECT_EQ(take(lost("a")).size(), 1U);
    EXPECT_EQ(take(lost("b")).size(), 1U);
    for (int count = 0; count < 5; ++count) {
        EXPECT_EQ(take(lost("a")), lines{});
        EXPECT_EQ(take(lost("b")), lines{});
    }
    EXPECT_EQ(after(30s), (lines{"again, 5 times in 30 s: a", "again, 5 times in 30 s: b"}));
}

TEST_F(LogFold, RemembersFewKindsAndForgetsNone) {
    std::size_t written = 0;
    std::size_t counted = 0;
    const auto count = [&](const lines& some) {
        for (const auto& each : some) {
            const auto again = each.find(" times in ");
            written += again == std::string::npos ? 1 : 0;
            counted += again == std::string::npos ? 0 : std::stoull(each.substr(7));
        }
    };
    constexpr std::size_t kinds = 3 * log_fold::kinds_max;
    for (std::size_t kind = 0; kind < kinds; ++kind) {
        for (int line = 0; line < 3; ++line) {
            count(take(lost(std::string(kind, 'x'))));
        }
    }
    count(end());
    EXPECT_EQ(written, kinds);
    EXPECT_EQ(counted, 2 * kinds);
}

}  // namespace
}  // namespace walrelay
