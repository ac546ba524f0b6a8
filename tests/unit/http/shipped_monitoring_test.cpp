// What is shipped and written about metrics names those that there are.
#include "http/metrics.hpp"
#include "unit/http/sample_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

namespace walrelay::http {
namespace {

std::string read(const std::string& name) {
    std::ifstream file(WALRELAY_SOURCE_DIR "/" + name);
    EXPECT_TRUE(file.good()) << name;
    return {std::istreambuf_iterator<char>(file), {}};
}

/// What the first group of the expression matches in `text`.
std::set<std::string> all_in(const std::string& text, const std::string& expression) {
    const std::regex each(expression);
    std::set<std::string> found;
    for (std::sregex_iterator at(text.begin(), text.end(), each), end; at != end; ++at) {
        found.insert((*at)[1]);
    }
    return found;
}

/// With the series that a histogram has.
std::set<std::string> metric_names() {
    const auto text = metrics_text(sample_report());
    auto names = all_in(text, "# TYPE walrelay_([a-z_]+) ");
    for (const auto& histogram : all_in(text, "# TYPE walrelay_([a-z_]+) histogram")) {
        names.insert({histogram + "_bucket", histogram + "_count", histogram + "_sum"});
    }
    return names;
}

TEST(ShippedMonitoring, AlertsAskForMetricsThatThereAre) {
    const auto asked = all_in(read("monitoring/alerts.yaml"), "walrelay_([a-z_]+)");
    EXPECT_FALSE(asked.empty());
    EXPECT_THAT(metric_names(), testing::IsSupersetOf(asked));
}

TEST(ShippedMonitoring, GrafanaDashboardAsksForMetricsThatThereAre) {
    const auto dashboard = read("monitoring/grafana.json");
    const auto asked = all_in(dashboard, "walrelay_([a-z_]+)");
    EXPECT_FALSE(asked.empty());
    EXPECT_THAT(metric_names(), testing::IsSupersetOf(asked));
    EXPECT_THAT(all_in(metrics_text(sample_report()), "# TYPE (process_[a-z_]+) "),
                testing::IsSupersetOf(all_in(dashboard, "(process_[a-z_]+)")));
}

TEST(ShippedMonitoring, RunbookNamesMetricsThatThereAre) {
    const auto named = all_in(read("docs/monitoring.md"), "`walrelay_([a-z_]+)");
    EXPECT_FALSE(named.empty());
    EXPECT_THAT(metric_names(), testing::IsSupersetOf(named));
}

TEST(ShippedMonitoring, EveryAlertHasASectionInTheRunbook) {
    const auto alerts = all_in(read("monitoring/alerts.yaml"), "alert: ([A-Za-z]+)");
    const auto sections = all_in(read("docs/monitoring.md"), "\n### (Walrelay[A-Za-z]+)\n");
    EXPECT_FALSE(alerts.empty());
    EXPECT_EQ(alerts, sections);
}

/// Of a person who reads it at night: each section leads to the end, and in the order that loses
/// nothing.
TEST(ShippedMonitoring, EverySectionSaysWhatToLookAtToKeepToHealAndToProve) {
    const auto page = read("docs/monitoring.md");
    for (const auto& alert : all_in(read("monitoring/alerts.yaml"), "alert: ([A-Za-z]+)")) {
        const auto begin = page.find("\n### " + alert + "\n");
        ASSERT_NE(begin, std::string::npos) << alert;
        const auto end = std::min(page.find("\n### ", begin + 1), page.find("\n## ", begin + 1));
        const auto section = page.substr(begin, end - begin);
        std::size_t before = 0;
        for (const auto* const step : {"\nLook: ", "\nKeep", "\nHeal: ", "\nProve: "}) {
            const auto at = section.find(step);
            ASSERT_NE(at, std::string::npos) << alert << " lacks" << step;
            EXPECT_GT(at, before) << alert << ": not in this place:" << step;
            before = at;
        }
    }
}

TEST(ShippedMonitoring, EveryAlertIsTestedWithAndWithoutItsCause) {
    const auto alerts = all_in(read("monitoring/alerts.yaml"), "alert: ([A-Za-z]+)");
    const auto tests = read("monitoring/alerts_test.yaml");
    EXPECT_EQ(all_in(tests, "alertname: ([A-Za-z]+)"), alerts);
    EXPECT_EQ(all_in(tests, "alertname: ([A-Za-z]+)\n *exp_alerts:\n"), alerts);
}

TEST(ShippedMonitoring, EveryMetricIsDocumented) {
    const auto page = read("docs/monitoring.md");
    const auto documented = all_in(
        page.substr(page.find("## Metrics"), page.find("## Grafana") - page.find("## Metrics")),
        "`([a-z_]+)(?=[{`])");
    const auto there = all_in(metrics_text(sample_report()), "# TYPE walrelay_([a-z_]+) ");
    EXPECT_THAT(documented, testing::IsSupersetOf(there));
}

}  // namespace
}  // namespace walrelay::http
