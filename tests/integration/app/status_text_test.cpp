#include "app/status_text.hpp"

#include "http/status_json.hpp"
#include "unit/http/sample_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace walrelay::app {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(StatusText, ShowsWhatARelayAnswers) {
    auto report = http::sample_report();
    slow_message slow;
    slow.took = std::chrono::milliseconds(250);
    slow.id = "order-1";
    slow.trace = "00-ab";
    report.status.slowest = slow;
    const auto shown = show_status(http::status_json(report));
    ASSERT_TRUE(shown);
    EXPECT_TRUE(shown->ready);
    EXPECT_THAT(shown->text, HasSubstr("streaming for 1.5 min, holds the slot\n"));
    EXPECT_THAT(shown->text,
                HasSubstr("lag 1.0 kB, holds 2.0 kB of WAL, reserved, 3.0 kB until "
                          "it can be lost (at this pace in 2.0 h), asked 1.5 s ago\n"));
    EXPECT_THAT(shown->text, HasSubstr("17 messages, 1.8 kB, last sequence 19"));
    EXPECT_THAT(
        shown->text,
        HasSubstr(
            "6 of rows that no message can be made of, 8 that the broker refuses (open ones)"));
    EXPECT_THAT(shown->text, HasSubstr("trail of 30.0 min, 1 bookmark, holding 900 B\n"));
    EXPECT_THAT(shown->text, HasSubstr("250.00 ms: id order-1"));
    EXPECT_THAT(shown->text, HasSubstr("traceparent 00-ab"));
    EXPECT_THAT(shown->text, HasSubstr("since the start, the last "));
}

TEST(StatusText, SaysHowSoonTheSlotCanBeLost) {
    auto report = http::sample_report();
    report.slot_danger_in = std::chrono::hours(3);
    const auto shown = show_status(http::status_json(report));
    ASSERT_TRUE(shown);
    EXPECT_THAT(shown->text,
                HasSubstr("3.0 kB until it can be lost (at this pace in 3.0 h), asked"));
}

TEST(StatusText, SaysWhoHoldsTheSlotOfAStandby) {
    using namespace std::chrono_literals;
    auto report = http::sample_report();
    report.status.state = relay_state::standby;
    report.status.is_leader = false;
    report.holder = {slot_holder{133, "10.0.0.5", "walrelay", 180s, 400ms}, 1s};
    auto shown = show_status(http::status_json(report));
    ASSERT_TRUE(shown);
    EXPECT_THAT(shown->text,
                HasSubstr("walrelay at 10.0.0.5 (process 133 of PostgreSQL), connected 3.0 min "
                          "ago, heard 400.00 ms ago\n"));
    report.holder.facts = slot_holder{133, "", "walrelay", 180s, 400ms};
    shown = show_status(http::status_json(report));
    EXPECT_THAT(shown->text, HasSubstr("walrelay at the server's machine ("));
    // Another role's session, of which only the process is shown.
    report.holder.facts = slot_holder{133};
    shown = show_status(http::status_json(report));
    EXPECT_THAT(shown->text, HasSubstr("process 133 of PostgreSQL (more is shown to roles with "));
    report.holder = {};
    EXPECT_THAT(show_status(http::status_json(report))->text, Not(HasSubstr("held by")));
}

/// Wherever an alert fires for what stands in /status.
TEST(StatusText, SaysWhatNeedsAttentionAndHowToLook) {
    using namespace std::chrono_literals;
    auto report = http::sample_report();
    report.letters.facts->counted = {0, 0};
    EXPECT_THAT(show_status(http::status_json(report))->text, Not(HasSubstr("attention")));
    report.slot_danger_in = 3000s;
    report.clock_offset = -90s;
    report.last_given_up = {report.now - 1min, kept_kind::trail, giving_way::max_wal};
    report.replays_still_for = 11min;
    const auto shown = show_status(http::status_json(report));
    ASSERT_TRUE(shown);
    EXPECT_THAT(shown->text,
                HasSubstr("\nattention    the slot is in danger: PostgreSQL may remove "
                          "its WAL in 50.0 min"));
    EXPECT_THAT(shown->text, HasSubstr("let the relay catch up; look: walrelay check\n"));
    EXPECT_THAT(shown->text, HasSubstr("PostgreSQL's clock is 1.5 min behind this machine's"));
    EXPECT_THAT(shown->text, HasSubstr("; look: timedatectl\n"));
    EXPECT_THAT(shown->text, HasSubstr("the trail was given up before its time 1.0 min ago"));
    EXPECT_THAT(shown->text, HasSubstr("; look: walrelay bookmark list\n"));
    EXPECT_THAT(shown->text, HasSubstr("a replay is not finished and has written no row for 11.0"));
    EXPECT_THAT(shown->text, HasSubstr("; look: walrelay replay list\n"));
}

TEST(StatusText, SaysWhyItIsNotReady) {
    auto report = http::sample_report();
    report.status.state = relay_state::waiting_broker;
    report.status.reason = "the broker is away";
    report.status.fix = "start it";
    report.slot_facts = {};
    const auto shown = show_status(http::status_json(report));
    ASSERT_TRUE(shown);
    EXPECT_FALSE(shown->ready);
    EXPECT_THAT(shown->text, HasSubstr("waiting broker"));
    EXPECT_THAT(shown->text, HasSubstr("the broker is away\n"));
    EXPECT_THAT(shown->text, HasSubstr("start it\n"));
    EXPECT_THAT(shown->text, Not(HasSubstr("of WAL")));
}

TEST(StatusText, SaysNothingOfWhatIsNoStatus) {
    for (const auto* const text :
         {"", "{}", "[]", "no JSON", "{\"schema\":1}", "{\"state\":\"x\"}",
          "{\"schema\":2,\"state\":\"x\"}", "{\"schema\":1,\"state\":5}"}) {
        EXPECT_FALSE(show_status(text)) << text;
    }
}

TEST(StatusText, KeepsForeignTextOnOneLine) {
    const auto shown =
        show_status("{\"schema\":1,\"state\":\"streaming\",\"reason\":\"a\\nb\\u001b[2J\"}");
    ASSERT_TRUE(shown);
    EXPECT_THAT(shown->text, HasSubstr("a\\nb\\x1b[2J\n"));
}

}  // namespace
}  // namespace walrelay::app
