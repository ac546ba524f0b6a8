#include "http/metrics.hpp"

#include "http/metric_writer.hpp"
#include "unit/http/sample_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace walrelay::http {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;
using testing::StartsWith;

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream from(text);
    for (std::string line; std::getline(from, line);) {
        lines.push_back(line);
    }
    return lines;
}

std::vector<std::string> series_of(const relay_report& report) {
    auto lines = lines_of(metrics_text(report));
    std::erase_if(lines, [](const std::string& line) { return line.starts_with('#'); });
    return lines;
}

TEST(MetricWriter, EscapesTheValuesOfLabels) {
    metric_writer to;
    to.family("info", "gauge", "Help.");
    to.sample(1.0, {{"a", "x\"y\\z\nw"}, {"b", ""}});
    EXPECT_EQ(to.take(),
              "# HELP walrelay_info Help.\n# TYPE walrelay_info gauge\n"
              "walrelay_info{a=\"x\\\"y\\\\z\\nw\",b=\"\"} 1\n");
}

TEST(MetricWriter, AddsTheBucketsOfAHistogramUp) {
    latency_histogram times;
    times.add(std::chrono::microseconds(50));
    times.add(std::chrono::microseconds(90));
    times.add(std::chrono::hours(1));
    metric_writer to;
    to.family("t_seconds", "histogram", "Help.");
    to.histogram(times);
    const auto lines = lines_of(to.take());
    EXPECT_THAT(lines, IsSupersetOf({
                           "walrelay_t_seconds_bucket{le=\"0.00005\"} 1",
                           "walrelay_t_seconds_bucket{le=\"0.0001\"} 2",
                           "walrelay_t_seconds_bucket{le=\"60\"} 2",
                           "walrelay_t_seconds_bucket{le=\"+Inf\"} 3",
                           "walrelay_t_seconds_count 3",
                           "walrelay_t_seconds_sum 3600.00014",
                       }));
}

TEST(MetricWriter, GivesTheFamiliesOfOpenMetricsNoSuffixAndAUnit) {
    metric_writer to(metric_format::openmetrics);
    to.family("x_seconds_total", "counter", "Help.");
    to.sample(1.5);
    to.family("build_info", "info", "Help.");
    to.sample(1.0, {{"version", "7"}});
    to.family("y_bytes", "gauge", "Help.");
    to.sample(std::uint64_t{3});
    EXPECT_EQ(to.take(),
              "# HELP walrelay_x_seconds Help.\n# TYPE walrelay_x_seconds counter\n"
              "# UNIT walrelay_x_seconds seconds\nwalrelay_x_seconds_total 1.5\n"
              "# HELP walrelay_build Help.\n# TYPE walrelay_build info\n"
              "walrelay_build_info{version=\"7\"} 1\n"
              "# HELP walrelay_y_bytes Help.\n# TYPE walrelay_y_bytes gauge\n"
              "# UNIT walrelay_y_bytes bytes\nwalrelay_y_bytes 3\n# EOF\n");
}

TEST(MetricWriter, PutsTheExemplarIntoItsBucketOfOpenMetricsAlone) {
    latency_histogram times;
    times.add(std::chrono::microseconds(1'500'000));
    const exemplar one{std::chrono::microseconds(1'500'000), "4bf9", wall_time(1s)};
    metric_writer open(metric_format::openmetrics);
    open.family("t_seconds", "histogram", "Help.");
    open.histogram(times, one);
    const auto lines = lines_of(open.take());
    EXPECT_THAT(lines, Contains("walrelay_t_seconds_bucket{le=\"1.0\"} 0"));
    EXPECT_THAT(lines, Contains("walrelay_t_seconds_bucket{le=\"2.5\"} 1 # {trace_id=\"4bf9\"} "
                                "1.5 1"));
    EXPECT_THAT(lines, Contains("walrelay_t_seconds_bucket{le=\"5.0\"} 1"));
    metric_writer text;
    text.family("t_seconds", "histogram", "Help.");
    text.histogram(times, one);
    EXPECT_THAT(text.take(), Not(HasSubstr("trace_id")));
}

TEST(Metrics, NameTheTraceOfTheSlowestMessage) {
    auto report = sample_report();
    report.status.slowest = slow_message{};
    report.status.slowest->took = std::chrono::milliseconds(7);
    report.status.slowest->trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    EXPECT_THAT(metrics_text(report, metric_format::openmetrics),
                HasSubstr("# {trace_id=\"4bf92f3577b34da6a3ce929d0e0e4736\"} 0.007 "));
    // What a row says is no part of the page's language.
    for (const auto* const no_trace :
         {"", "00-4bf9", "00-4bf92f3577b34da6a3ce929d0e0e473\"-00f067aa0ba902b7-01"}) {
        report.status.slowest->trace = no_trace;
        EXPECT_THAT(metrics_text(report, metric_format::openmetrics), Not(HasSubstr("trace_id")));
    }
}

TEST(Metrics, SayWhatTheReportSays) {
    const auto lines = series_of(sample_report());
    EXPECT_THAT(lines,
                IsSupersetOf({
                    "walrelay_state{state=\"streaming\"} 1",
                    "walrelay_state{state=\"standby\"} 0",
                    "walrelay_leader 1",
                    "walrelay_connected{side=\"nats\"} 1",
                    "walrelay_reconnects_total{side=\"nats\",reason=\"ended\"} 5",
                    "walrelay_rows_received_total{table=\"public.events_0\"} 11",
                    "walrelay_last_row_timestamp_seconds{table=\"public.events_0\"} 1790000000",
                    "walrelay_stored_body_bytes_total 4096",
                    "walrelay_dead_letters_total{table=\"public.events_0\",reason=\"broker\"} 3",
                    "walrelay_messages_stored_total{source=\"live\"} 4",
                    "walrelay_messages_stored_total{source=\"snapshot\"} 2",
                    "walrelay_messages_stored_total{source=\"retry\"} 1",
                    "walrelay_reading_paused_seconds_total 2.5",
                    "walrelay_cleanup_rows_deleted_total{table=\"public.events_0\"} 21",
                    "walrelay_cleanup_failures_total{reason=\"refused\"} 1",
                    "walrelay_cleanup_lag_seconds{table=\"public.events_0\"} 90",
                    "walrelay_startup_check_timestamp_seconds 1700000001",
                    "walrelay_startup_check_missing_rows 0",
                    "walrelay_publish_failures_total{class=\"transient\"} 4",
                    "walrelay_lag_seconds 1.5",
                    "walrelay_slot_retained_bytes 2000",
                    "walrelay_slot_wal_status{status=\"reserved\"} 1",
                    "walrelay_slot_safe_wal_bytes 3000",
                    "walrelay_stream_last_sequence 19",
                    "walrelay_dead_letters{reason=\"row\"} 6",
                    "walrelay_findings{severity=\"warning\"} 1",
                    "walrelay_findings{severity=\"error\"} 0",
                    "walrelay_facts_age_seconds{about=\"slot\"} 1.5",
                    "walrelay_clock_offset_seconds -0.002",
                    "walrelay_bookmarks{state=\"kept\"} 1",
                    "walrelay_bookmarks{state=\"lost\"} 0",
                    "walrelay_bookmarks_retained_bytes 900",
                    "walrelay_bookmarks_dropped_total{reason=\"max_wal\"} 2",
                    "walrelay_bookmarks_dropped_total{reason=\"expired\"} 0",
                    "walrelay_trail_seconds 1800",
                    "walrelay_replays_unfinished 1",
                    "walrelay_replay_remaining_rows 70",
                    "walrelay_trail_cut_total{reason=\"max_wal\"} 3",
                    "walrelay_trail_cut_total{reason=\"lost\"} 1",
                    "walrelay_facts_age_seconds{about=\"kept_positions\"} 4",
                    "walrelay_trace_spans_total{result=\"exported\"} 31",
                    "walrelay_trace_spans_total{result=\"dropped\"} 3",
                    "walrelay_trace_spans_total{result=\"failed\"} 2",
                }));
}

TEST(Metrics, LeaveOutWhatIsNotKnown) {
    auto report = sample_report();
    report.slot_facts.facts->safe_wal_bytes.reset();
    EXPECT_THAT(metrics_text(report), Not(HasSubstr("safe_wal_bytes")));
    report.slot_facts.facts.reset();
    report.stream_facts.facts.reset();
    report.letters.facts.reset();
    report.findings.facts.reset();
    report.kept.facts.reset();
    const auto lines = series_of(report);
    EXPECT_THAT(lines, Each(Not(StartsWith("walrelay_slot_"))));
    EXPECT_THAT(lines, Each(Not(StartsWith("walrelay_stream_"))));
    EXPECT_THAT(lines, Each(Not(StartsWith("walrelay_dead_letters{"))));
    EXPECT_THAT(lines, Each(Not(StartsWith("walrelay_findings{"))));
    EXPECT_THAT(lines, Each(Not(StartsWith("walrelay_bookmarks{"))));
    EXPECT_THAT(lines, Each(Not(StartsWith("walrelay_trail_seconds"))));
    EXPECT_THAT(lines, Contains("walrelay_facts_age_seconds{about=\"slot\"} 1.5"));
}

TEST(Metrics, SayNothingOfACleanUpThatIsNotKnown) {
    auto report = sample_report(2);
    report.cleanup[1] = {};
    const auto lines = series_of(report);
    EXPECT_THAT(lines,
                Contains(StartsWith("walrelay_cleanup_lag_seconds{table=\"public.events_0")));
    EXPECT_THAT(lines,
                Each(Not(StartsWith("walrelay_cleanup_lag_seconds{table=\"public.events_1"))));
}

TEST(Metrics, SayNothingOfTracesWhereThereAreNone) {
    auto report = sample_report();
    report.traces.reset();
    EXPECT_THAT(metrics_text(report), Not(HasSubstr("trace_spans")));
}

TEST(Metrics, OfAStandbySayNothingOfALag) {
    auto report = sample_report();
    report.status.state = relay_state::standby;
    EXPECT_THAT(metrics_text(report), Not(HasSubstr("walrelay_lag_seconds")));
}

TEST(Metrics, StayWithinThreeHundredSeriesForFiveTables) {
    const auto lines = series_of(sample_report(5));
    EXPECT_LE(lines.size(), 300U);
    std::set<std::string> names;
    for (const auto& line : lines) {
        EXPECT_TRUE(names.insert(line.substr(0, line.rfind(' '))).second) << line;
    }
}

TEST(Metrics, NameNoSlotAndNoStreamBesideTheInfo) {
    for (const auto& line : series_of(sample_report())) {
        if (!line.starts_with("walrelay_info{")) {
            EXPECT_THAT(line, Not(HasSubstr("slot=")));
            EXPECT_THAT(line, Not(HasSubstr("OUTBOX")));
        }
    }
}

TEST(Metrics, HaveHelpAndTypeBeforeTheirSamples) {
    std::set<std::string> declared;
    for (const auto& line : lines_of(metrics_text(sample_report()))) {
        if (line.starts_with("# TYPE ")) {
            const auto name = line.substr(7, line.rfind(' ') - 7);
            EXPECT_TRUE(declared.insert(name).second) << name;
        } else if (!line.starts_with('#')) {
            auto name = line.substr(0, line.find_first_of("{ "));
            for (const std::string suffix : {"_bucket", "_sum", "_count"}) {
                if (!declared.contains(name) && name.ends_with(suffix)) {
                    name.resize(name.size() - suffix.size());
                }
            }
            EXPECT_TRUE(declared.contains(name)) << line;
        }
    }
}

}  // namespace
}  // namespace walrelay::http
