#include "http/routes.hpp"

#include "http/page.hpp"
#include "unit/http/sample_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace walrelay::http {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

answer ask(std::string_view target, relay_state state = relay_state::streaming,
           bool is_leader = true) {
    const report_source from{[&] {
                                 auto report = sample_report();
                                 report.status.state = state;
                                 report.status.is_leader = is_leader;
                                 report.status.reason = is_ready(state) ? "" : "it broke";
                                 return report;
                             },
                             [] { return std::vector<sample>(3); }};
    return answer_to(target, from);
}

TEST(Routes, AreHealthyWheneverTheyAnswer) {
    EXPECT_EQ(ask("/healthz", relay_state::halted).status, 200U);
    EXPECT_EQ(ask("/healthz", relay_state::halted).body, "ok\n");
}

TEST(Routes, AreReadyInTheStatesThatDoWhatTheRelayIsThereFor) {
    for (const auto state : {relay_state::streaming, relay_state::catching_up,
                             relay_state::snapshot, relay_state::standby}) {
        EXPECT_EQ(ask("/readyz", state).status, 200U) << to_string(state);
    }
    for (const auto state :
         {relay_state::starting, relay_state::waiting_postgres, relay_state::waiting_broker,
          relay_state::draining, relay_state::halted}) {
        EXPECT_EQ(ask("/readyz", state).status, 503U) << to_string(state);
    }
    EXPECT_EQ(ask("/readyz", relay_state::waiting_broker).body,
              "not ready: waiting_broker: it broke\n");
}

TEST(Routes, SayWhatWasFoundAndStayReady) {
    EXPECT_EQ(ask("/readyz").status, 200U);
    EXPECT_EQ(ask("/readyz").body, "ready: streaming; found: row_security_hides_rows\n");
    EXPECT_EQ(ask("/readyz", relay_state::halted).body, "not ready: halted: it broke\n");
    auto report = sample_report();
    const report_source from{[&] { return report; }, [] { return std::vector<sample>(); }};
    report.findings.facts = {{finding_severity::warning, "stream_max_age", "", ""},
                             {finding_severity::error, "publication_filters_rows", "one", ""},
                             {finding_severity::error, "publication_filters_rows", "another", ""},
                             {finding_severity::note, "stream_full", "", ""}};
    EXPECT_EQ(answer_to("/readyz", from).body,
              "ready: streaming; found: publication_filters_rows, stream_max_age\n");
    report.findings = {};
    EXPECT_EQ(answer_to("/readyz", from).body, "ready: streaming\n");
}

TEST(Routes, SayWhyInOneLineWhateverAServerSaid) {
    const report_source from{[] {
                                 auto report = sample_report();
                                 report.status.state = relay_state::halted;
                                 report.status.reason = "refused\r\nready: streaming\x1b[2J";
                                 return report;
                             },
                             [] { return std::vector<sample>(); }};
    EXPECT_EQ(answer_to("/readyz", from).body,
              "not ready: halted: refused\\x0d\\nready: streaming\\x1b[2J\n");
}

TEST(Routes, TellTheLeaderByTheSlotAlone) {
    EXPECT_EQ(ask("/leader", relay_state::waiting_broker, true).status, 200U);
    EXPECT_EQ(ask("/leader", relay_state::standby, false).status, 503U);
}

TEST(Routes, GiveMetricsAndStatus) {
    EXPECT_EQ(ask("/metrics").content_type, "text/plain; version=0.0.4; charset=utf-8");
    EXPECT_THAT(ask("/metrics").body, HasSubstr("walrelay_leader 1"));
    EXPECT_EQ(ask("/status").content_type, "application/json");
    EXPECT_THAT(ask("/status?x=1").body, HasSubstr("\"schema\":1"));
    EXPECT_THAT(ask("/status/history").body, HasSubstr("\"samples\":[["));
}

TEST(Routes, GiveOpenMetricsToWhoWantsIt) {
    const auto prometheus =
        "application/openmetrics-text;version=1.0.0;q=0.5,application/openmetrics-text;"
        "version=0.0.1;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2";
    for (const auto* const wants :
         {prometheus, "application/openmetrics-text", "APPLICATION/OpenMetrics-Text ; q=1",
          "text/plain;q=0.5, application/openmetrics-text;q=0.5"}) {
        EXPECT_EQ(format_wanted(wants), metric_format::openmetrics) << wants;
    }
    for (const auto* const wants :
         {"", "*/*", "text/plain", "text/plain, application/openmetrics-text;q=0.9",
          "application/openmetrics-text;q=0", "application/openmetrics-text;q=x", ",;,;q",
          ";q=1"}) {
        EXPECT_EQ(format_wanted(wants), metric_format::text) << wants;
    }
    const report_source from{[] { return sample_report(); }, [] { return std::vector<sample>(); }};
    const auto given = answer_to("/metrics", from, metric_format::openmetrics);
    EXPECT_EQ(given.content_type, "application/openmetrics-text; version=1.0.0; charset=utf-8");
    EXPECT_THAT(given.body, testing::EndsWith("# EOF\n"));
}

TEST(Routes, GiveThePage) {
    EXPECT_THAT(ask("/").content_type, StartsWith("text/html"));
    EXPECT_THAT(ask("/app.js").content_type, StartsWith("text/javascript"));
    EXPECT_THAT(ask("/app.css").content_type, StartsWith("text/css"));
}

TEST(Routes, KnowNothingElse) {
    for (const auto* const target : {"/x", "/status/", "//", "/../etc/passwd", "/healthz%00", ""}) {
        EXPECT_EQ(ask(target).status, 404U) << target;
    }
}

TEST(KnownHost, TakesAddressesLocalhostAndWhatIsConfigured) {
    for (const auto* const host :
         {"127.0.0.1", "127.0.0.1:8460", "[::1]", "[::1]:8460", "10.1.2.3:1", "localhost",
          "LOCALHOST:80", "relay.internal", "Relay.Internal:8460"}) {
        EXPECT_TRUE(is_known_host(host, {"relay.internal"})) << host;
    }
}

TEST(KnownHost, RefusesEveryOtherName) {
    for (const auto* const host :
         {"", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "relay.internal.",
          "xrelay.internal", "[::1", "[::1]x", "127.0.0.1:80x", "a:b:c", "localhost@evil", "[]"}) {
        EXPECT_FALSE(is_known_host(host, {"relay.internal"})) << host;
    }
}

TEST(Page, IsSmallAndLoadsNothingOfElsewhere) {
    std::size_t bytes = 0;
    for (const auto& file : page_files()) {
        EXPECT_GT(file.content.size(), 500U) << file.path;
        bytes += file.content.size();
        EXPECT_EQ(file.content.find("https://"), std::string_view::npos) << file.path;
        EXPECT_EQ(file.content.find("innerHTML"), std::string_view::npos) << file.path;
        EXPECT_EQ(file.content.find("insertAdjacentHTML"), std::string_view::npos) << file.path;
        EXPECT_EQ(file.content.find("document.write"), std::string_view::npos) << file.path;
    }
    EXPECT_LE(bytes, 40'000U);
}

}  // namespace
}  // namespace walrelay::http
