#include "http/status_json.hpp"

#include "unit/http/sample_report.hpp"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <string>
#include <vector>

namespace walrelay::http {
namespace {

class StatusJson : public testing::Test {
protected:
    simdjson::dom::element read(const std::string& text) { return parser_.parse(text).value(); }
    simdjson::dom::element status(const relay_report& of) { return read(status_json(of)); }

    static std::string text(const simdjson::dom::element& from, const char* pointer) {
        return std::string(from.at_pointer(pointer).get_string().value());
    }
    static double number(const simdjson::dom::element& from, const char* pointer) {
        return from.at_pointer(pointer).get_double().value();
    }

private:
    simdjson::dom::parser parser_;
};

TEST_F(StatusJson, SaysWhoHoldsTheSlotOfAStandby) {
    using namespace std::chrono_literals;
    auto report = sample_report();
    report.holder = {slot_holder{133, "10.0.0.5", "walrelay", std::nullopt, 400ms}, 1s};
    const auto said = status(report);
    EXPECT_EQ(number(said, "/holder/age_seconds"), 1);
    EXPECT_EQ(number(said, "/holder/facts/process"), 133);
    EXPECT_EQ(text(said, "/holder/facts/address"), "10.0.0.5");
    EXPECT_TRUE(said.at_pointer("/holder/facts/connected_for_seconds").is_null());
    EXPECT_EQ(number(said, "/holder/facts/heard_ago_seconds"), 0.4);
}

TEST_F(StatusJson, SaysWhatTheReportSays) {
    const auto said = status(sample_report());
    EXPECT_EQ(number(said, "/schema"), 1);
    EXPECT_EQ(text(said, "/state"), "streaming");
    EXPECT_TRUE(said.at_pointer("/ready").get_bool().value());
    EXPECT_TRUE(said.at_pointer("/leader").get_bool().value());
    EXPECT_EQ(number(said, "/since"), 1'700'000'010);
    EXPECT_EQ(text(said, "/slot/confirmed"), "0/16F8E10");
    EXPECT_EQ(number(said, "/slot/age_seconds"), 1.5);
    EXPECT_EQ(number(said, "/slot/facts/retained_bytes"), 2000);
    EXPECT_EQ(number(said, "/stream/facts/messages"), 17);
    EXPECT_EQ(number(said, "/dead_letters/facts/broker"), 8);
    EXPECT_EQ(number(said, "/findings/age_seconds"), 30);
    EXPECT_EQ(text(said, "/findings/facts/0/severity"), "warning");
    EXPECT_EQ(text(said, "/findings/facts/0/fix"), "let them be seen");
    EXPECT_EQ(number(said, "/kept_positions/age_seconds"), 4);
    EXPECT_EQ(number(said, "/kept_positions/bookmarks_dropped"), 2);
    EXPECT_EQ(number(said, "/kept_positions/trail_cut"), 4);
    EXPECT_EQ(number(said, "/kept_positions/facts/held_bytes"), 900);
    EXPECT_EQ(text(said, "/kept_positions/facts/positions/0/name"), "before");
    EXPECT_EQ(text(said, "/kept_positions/facts/positions/0/position"), "0/16F8E10");
    EXPECT_EQ(number(said, "/kept_positions/facts/positions/1/covers_from"), 1'699'998'300);
    EXPECT_EQ(number(said, "/kept_positions/facts/replays/0/number"), 3);
    EXPECT_EQ(number(said, "/kept_positions/facts/replays/0/rows_written"), 50);
    EXPECT_EQ(number(said, "/lag_seconds"), 1.5);
    EXPECT_EQ(number(said, "/totals/messages_stored"), 9);
    EXPECT_EQ(number(said, "/tables/0/dead_letters"), 5);
    EXPECT_EQ(number(said, "/tables/0/deleted"), 21);
    EXPECT_EQ(number(said, "/tables/0/cleanup_lag_seconds"), 90);
    EXPECT_EQ(number(said, "/totals/messages_stored_by_source/snapshot"), 2);
    EXPECT_EQ(text(said, "/log/0/text"), "streaming");
    EXPECT_EQ(text(said, "/last_trouble/text"), "the broker is away");
    EXPECT_EQ(number(said, "/last_trouble/time"), 1'700'000'000);
    EXPECT_TRUE(said.at_pointer("/last_minute/slowest").is_null());
    EXPECT_TRUE(said.at_pointer("/last_second/p99_seconds").is_null());
    EXPECT_EQ(number(said, "/slot/danger_in_seconds"), 7200);
}

TEST_F(StatusJson, IsNullWhereNothingIsKnown) {
    auto report = sample_report();
    report.slot_facts = {};
    report.status.confirmed.reset();
    report.counts.last_commit = {};
    report.last_trouble.reset();
    const auto said = status(report);
    EXPECT_TRUE(said.at_pointer("/slot/facts").is_null());
    EXPECT_TRUE(said.at_pointer("/slot/age_seconds").is_null());
    EXPECT_TRUE(said.at_pointer("/slot/confirmed").is_null());
    EXPECT_TRUE(said.at_pointer("/last_commit").is_null());
    EXPECT_TRUE(said.at_pointer("/last_trouble").is_null());
}

TEST_F(StatusJson, KeepsCommentsOfBookmarksToItself) {
    EXPECT_EQ(status_json(sample_report()).find("not shown"), std::string::npos);
}

TEST_F(StatusJson, StaysSmallHoweverManyBookmarksThereAre) {
    auto report = sample_report();
    report.kept.facts->all.resize(100'000);
    EXPECT_LT(status_json(report).size(), 100'000U);
}

TEST_F(StatusJson, NamesTheSlowestMessage) {
    auto report = sample_report();
    slow_message slow;
    slow.took = std::chrono::milliseconds(250);
    slow.id = "order-1";
    slow.trace = "00-ab";
    slow.where = {{7, 1}, {lsn{16}, lsn{8}, 0}};
    report.status.slowest = slow;
    const auto said = status(report);
    EXPECT_EQ(number(said, "/last_minute/slowest/seconds"), 0.25);
    EXPECT_EQ(text(said, "/last_minute/slowest/id"), "order-1");
    EXPECT_EQ(text(said, "/last_minute/slowest/position"), to_string(slow.where));
}

TEST_F(StatusJson, StaysJsonWhateverOthersHaveWritten) {
    auto report = sample_report();
    report.status.reason = "\"\\\n\x01\xff</script>\xe2\x80\xae";
    report.tables.front() = "public.\"quoted\"";
    report.log.front().text = std::string("zero \0 byte", 11);
    const auto said = status(report);
    EXPECT_NE(text(said, "/reason").find("</script>"), std::string::npos);
    EXPECT_EQ(text(said, "/tables/0/name"), "public.\"quoted\"");
}

TEST_F(StatusJson, ShowsTheHistoryWithGapsWhereNothingIsKnown) {
    const std::vector<sample> samples{
        {wall_time{std::chrono::seconds(5)}, 2.5F, 2.25F, 0.5F, 0.25F, -1, 0.75F, 100, -1},
        {wall_time{std::chrono::seconds(6)}}};
    const auto text = history_json(samples);
    const auto said = read(text);
    EXPECT_EQ(number(said, "/samples/0/0"), 5);
    EXPECT_EQ(number(said, "/samples/0/1"), 2.5);
    EXPECT_EQ(number(said, "/samples/0/4"), 0.25);
    EXPECT_TRUE(said.at_pointer("/samples/0/5").is_null());
    EXPECT_EQ(number(said, "/samples/0/6"), 0.75);
    EXPECT_EQ(said.at_pointer("/samples").get_array().value().size(), 2U);
    EXPECT_EQ(said.at_pointer("/columns").get_array().value().size(),
              said.at_pointer("/samples/0").get_array().value().size());
}

}  // namespace
}  // namespace walrelay::http
