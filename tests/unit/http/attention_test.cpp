#include "http/attention.hpp"

#include "unit/http/sample_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace walrelay::http {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

/// Of which nothing needs anybody.
relay_report calm_report() {
    auto report = sample_report();
    report.letters.facts->counted = {0, 0};
    return report;
}

auto for_alert(const char* alert, const char* words, const char* command) {
    return AllOf(Field(&attention::alert, alert), Field(&attention::what, HasSubstr(words)),
                 Field(&attention::command, command));
}

TEST(Attention, NeedsNobodyWhereAllIsWell) {
    EXPECT_THAT(attention_for(calm_report()), IsEmpty());
    EXPECT_THAT(attention_for(relay_report{}), IsEmpty()) << "nor where nothing is known";
}

TEST(Attention, IsForOpenDeadLetters) {
    EXPECT_THAT(attention_for(sample_report()),
                ElementsAre(for_alert("WalrelayDeadLetters", "8 that the broker refuses",
                                      "walrelay dead-letter list --open")));
}

TEST(Attention, IsForASlotThatIsInDangerWithinAnHour) {
    auto report = calm_report();
    report.slot_danger_in = 3600s;
    EXPECT_THAT(attention_for(report), IsEmpty());
    report.slot_danger_in = 3000s;
    EXPECT_THAT(attention_for(report),
                ElementsAre(for_alert("WalrelaySlotEndangered", "may remove its WAL in 50.0 min",
                                      "walrelay check")));
    // What is known of another server's slot is nothing.
    report.slot_facts.facts.reset();
    EXPECT_THAT(attention_for(report), IsEmpty());
}

TEST(Attention, IsForASlotWhoseStatusIsBad) {
    auto report = calm_report();
    report.slot_facts.facts->wal_status = "unreserved";
    EXPECT_THAT(attention_for(report),
                ElementsAre(for_alert("WalrelaySlotEndangered", "wal_status is unreserved",
                                      "walrelay check")));
    report.slot_facts.facts->wal_status = "lost";
    EXPECT_THAT(attention_for(report),
                ElementsAre(for_alert("WalrelaySlotEndangered", "delete none", "walrelay verify")));
}

TEST(Attention, IsForMuchWal) {
    auto report = calm_report();
    auto& slot = *report.slot_facts.facts;
    slot.retained_bytes = 3001;
    EXPECT_THAT(attention_for(report), ElementsAre(for_alert("WalrelaySlotRetention",
                                                             "3.0 kB are left", "walrelay check")));
    slot.safe_wal_bytes.reset();
    slot.retained_bytes = 10'000'000'001;
    EXPECT_THAT(attention_for(report),
                ElementsAre(for_alert("WalrelaySlotRetention", "keeps 10.0 GB", "walrelay check")));
}

TEST(Attention, IsForABrokerThatDoesNotAnswer) {
    auto report = calm_report();
    report.status.oldest_unacked = 31s;
    EXPECT_THAT(attention_for(report),
                ElementsAre(for_alert("WalrelayBrokerStuck", "for 31.0 s", "walrelay check")));
    // Its reason says so.
    report.status.state = relay_state::waiting_broker;
    EXPECT_THAT(attention_for(report), IsEmpty());
}

TEST(Attention, IsForACleanUpThatIsBehind) {
    auto report = calm_report();
    report.cleanup[0].owed_since = report.now - 2h;
    EXPECT_THAT(attention_for(report),
                ElementsAre(for_alert("WalrelayCleanupBehind", "rows of public.events_0",
                                      "walrelay check")));
}

TEST(Attention, IsForClocksThatDiffer) {
    auto report = calm_report();
    report.clock_offset = 5s;
    EXPECT_THAT(attention_for(report), IsEmpty());
    report.clock_offset = -90'400ms;
    EXPECT_THAT(attention_for(report),
                ElementsAre(for_alert("WalrelayClockOff", "is 1.5 min behind this machine's",
                                      "timedatectl")));
    report.clock_offset = 6s;
    EXPECT_THAT(attention_for(report),
                ElementsAre(for_alert("WalrelayClockOff", "is 6.0 s ahead of", "timedatectl")));
}

TEST(Attention, IsForATrailThatWasCutAQuarterOfAnHourAgo) {
    auto report = calm_report();
    report.last_given_up = {report.now - 5min, kept_kind::trail, giving_way::max_wal};
    EXPECT_THAT(attention_for(report),
                ElementsAre(for_alert("WalrelayTrailCut", "5.0 min ago (max_wal): no row is lost",
                                      "walrelay bookmark list")));
    report.last_given_up->at = report.now - 15min;
    EXPECT_THAT(attention_for(report), IsEmpty());
}

TEST(Attention, IsForAReplayThatStandsStill) {
    auto report = calm_report();
    report.replays_still_for = 599s;
    EXPECT_THAT(attention_for(report), IsEmpty());
    report.replays_still_for = 600s;
    EXPECT_THAT(attention_for(report),
                ElementsAre(for_alert("WalrelayReplayStalled", "no row for 10.0 min",
                                      "walrelay replay list")));
}

/// All at once: what it is named for is one of the alerts that are shipped.
TEST(Attention, IsNamedAsAlertsAre) {
    auto report = sample_report();
    report.slot_facts.facts->wal_status = "unreserved";
    report.slot_facts.facts->retained_bytes = 3001;
    report.status.oldest_unacked = 31s;
    report.cleanup[0].owed_since = report.now - 2h;
    report.clock_offset = 6s;
    report.last_given_up = {report.now, kept_kind::bookmark, giving_way::no_free_slot};
    report.replays_still_for = 600s;
    std::ifstream file(WALRELAY_SOURCE_DIR "/monitoring/alerts.yaml");
    const std::string alerts{std::istreambuf_iterator<char>(file), {}};
    const auto all = attention_for(report);
    EXPECT_EQ(all.size(), 8U);
    for (const auto& each : all) {
        EXPECT_THAT(alerts, HasSubstr("alert: " + std::string(each.alert) + "\n"));
    }
}

}  // namespace
}  // namespace walrelay::http
