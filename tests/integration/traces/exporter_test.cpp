#include "traces/exporter.hpp"

#include "support/eventually.hpp"
#include "support/free_port.hpp"
#include "support/tls_files.hpp"
#include "support/trace_collector.hpp"
#include "tls_front.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>

namespace walrelay::traces {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr auto patience = 60s;

const std::string trace = "4bf92f3577b34da6a3ce929d0e0e4736";

class Exporter : public testing::Test {
protected:
    void export_to(const std::string& url, header_list headers = {}) {
        tested_.emplace(*parse_collector_url(url), std::move(headers),
                        origin{"orders", "1.2.3", "slot", "EVENTS"});
    }

    void ack(const std::string& id, const std::string& flags = "01") {
        message content;
        content.id = id;
        content.subject = "events.a";
        content.where = {{7, 1}, {lsn{8}, {}, 0}};
        content.add_header("traceparent", "00-" + trace + "-00f067aa0ba902b7-" + flags);
        tested_->acked({content, wall_time{1000s}, wall_time{1001s}, 1});
    }

    [[nodiscard]] std::uint64_t count(trace_result what) const {
        return tested_->counts().at(static_cast<std::size_t>(what));
    }
    [[nodiscard]] bool comes_to(trace_result what, std::uint64_t spans) const {
        return test::eventually(patience, [&] { return count(what) == spans; });
    }

    [[nodiscard]] std::string line() {
        const auto due = tested_->line_due();
        return due ? std::string(due->event().name) + ' ' + due->text() : "";
    }

    std::optional<exporter> tested_;
};

TEST_F(Exporter, PostsSpansWithTheHeadersOfTheConfiguration) {
    test::trace_collector collector;
    export_to(collector.url(), {{"Authorization", "Bearer a b"}});
    ack("id-1");
    ack("id-2", "00");
    ack("id-3");
    ASSERT_TRUE(comes_to(trace_result::exported, 2));
    const auto asked = collector.requests().front();
    EXPECT_EQ(asked.target, "/v1/traces");
    EXPECT_THAT(asked.headers, AllOf(HasSubstr("Content-Type: application/json\r\n"),
                                     HasSubstr("Authorization: Bearer a b\r\n"),
                                     HasSubstr("User-Agent: walrelay/")));
    EXPECT_THAT(collector.bodies(),
                AllOf(HasSubstr(trace), HasSubstr("id-1"), HasSubstr("id-3"), HasSubstr("orders"),
                      HasSubstr("publish EVENTS"), Not(HasSubstr("id-2"))));
    EXPECT_EQ(line(), "");
}

TEST_F(Exporter, GivesEachSpanAnIdOfItsOwn) {
    test::trace_collector collector;
    export_to(collector.url());
    ack("id-1");
    ack("id-2");
    ASSERT_TRUE(comes_to(trace_result::exported, 2));
    const auto text = collector.bodies();
    const auto id_after = [&](std::size_t from) {
        const std::string name = "\"spanId\":\"";
        return text.substr(text.find(name, from) + name.size(), 16);
    };
    const auto first = id_after(0);
    const auto second = id_after(text.find("id-1"));
    EXPECT_NE(first, second);
    EXPECT_NE(first, std::string(16, '0'));
}

TEST_F(Exporter, KeepsItsConnection) {
    test::trace_collector collector;
    export_to(collector.url());
    ack("id-1");
    ASSERT_TRUE(comes_to(trace_result::exported, 1));
    ack("id-2");
    ASSERT_TRUE(comes_to(trace_result::exported, 2));
    EXPECT_EQ(collector.connections(), 1U);
    EXPECT_EQ(collector.requests().size(), 2U);
}

TEST_F(Exporter, MakesAnotherConnectionWhereTheCollectorHasEndedIt) {
    test::trace_collector collector;
    collector.hang_up_after_each();
    export_to(collector.url());
    for (std::uint64_t number = 1; number <= 2; ++number) {
        ack("id-" + std::to_string(number));
        ASSERT_TRUE(comes_to(trace_result::exported, number));
    }
    EXPECT_EQ(collector.connections(), 2U);
    EXPECT_EQ(count(trace_result::failed), 0U);
}

TEST_F(Exporter, TriesAgainWhatACollectorCannotTakeNow) {
    test::trace_collector collector;
    collector.answer_with(503, "busy");
    export_to(collector.url());
    ack("id-1");
    ASSERT_TRUE(test::eventually(patience, [&] { return collector.requests().size() == 1; }));
    collector.answer_with(200);
    ASSERT_TRUE(comes_to(trace_result::exported, 1));
    EXPECT_EQ(collector.requests().size(), 2U);
    EXPECT_EQ(line(), "");
}

TEST_F(Exporter, GivesUpWhatACollectorRefusesAndSaysSoOnce) {
    test::trace_collector collector;
    collector.answer_with(401, "who\r\nare you?");
    export_to(collector.url(), {{"Authorization", "secret"}});
    ack("id-1");
    ASSERT_TRUE(comes_to(trace_result::failed, 1));
    EXPECT_EQ(collector.requests().size(), 1U);
    const auto why = line();
    EXPECT_THAT(
        why, AllOf(HasSubstr("traces_not_exported"),
                   HasSubstr("127.0.0.1:" + std::to_string(collector.port())),
                   HasSubstr("HTTP status 401"), HasSubstr("are you?"), Not(HasSubstr("secret"))));
    ack("id-2");
    ASSERT_TRUE(comes_to(trace_result::failed, 2));
    EXPECT_EQ(line(), "");
    collector.answer_with(200);
    ack("id-3");
    ASSERT_TRUE(comes_to(trace_result::exported, 1));
    EXPECT_THAT(line(), HasSubstr("traces_exported_again"));
    EXPECT_EQ(line(), "");
}

TEST_F(Exporter, CountsWhatACollectorLeavesOut) {
    test::trace_collector collector;
    collector.answer_with(200, R"({"partialSuccess":{"rejectedSpans":"1"}})");
    export_to(collector.url());
    ack("id-1");
    ack("id-2");
    EXPECT_TRUE(comes_to(trace_result::exported, 1));
    EXPECT_TRUE(comes_to(trace_result::failed, 1));
}

TEST_F(Exporter, GivesUpWhereNobodyAnswersAndGoesOnWhereSomebodyDoesAgain) {
    const auto port = test::free_port();
    export_to("http://127.0.0.1:" + std::to_string(port));
    ack("id-1");
    ASSERT_TRUE(comes_to(trace_result::failed, 1));
    EXPECT_THAT(line(), HasSubstr("Connection refused"));
    const test::trace_collector collector(port);
    ack("id-2");
    ASSERT_TRUE(comes_to(trace_result::exported, 1));
    EXPECT_THAT(line(), HasSubstr("traces_exported_again"));
}

TEST_F(Exporter, HasABoundForWhatWaits) {
    test::trace_collector collector;
    collector.fall_silent();
    export_to(collector.url());
    constexpr std::uint64_t many = 6000;
    for (std::uint64_t number = 0; number < many; ++number) {
        ack("id");
    }
    // All but what waits in the queue, and the batch that is on its way.
    EXPECT_GE(count(trace_result::dropped), many - 4096 - 512);
}

TEST_F(Exporter, SendsWhatIsLeftWhenItStops) {
    test::trace_collector collector;
    export_to(collector.url());
    ack("id-1");
    tested_->stop();
    EXPECT_EQ(count(trace_result::exported), 1U);
    EXPECT_THAT(collector.bodies(), HasSubstr("id-1"));
    ack("id-2");
    EXPECT_EQ(count(trace_result::dropped), 1U);
}

TEST_F(Exporter, StopsSoonWhereTheCollectorIsSilent) {
    test::trace_collector collector;
    collector.fall_silent();
    export_to(collector.url());
    ack("id-1");
    ASSERT_TRUE(test::eventually(patience, [&] { return collector.requests().size() == 1; }));
    ack("id-2");
    const auto begun = std::chrono::steady_clock::now();
    tested_->stop();
    EXPECT_LT(std::chrono::steady_clock::now() - begun, 3s);
    EXPECT_EQ(count(trace_result::failed), 2U);
    EXPECT_THAT(line(), HasSubstr("it does not answer"));
}

class ExporterOverTls : public Exporter {
protected:
    static void trust(const std::string& authority) {
        setenv("SSL_CERT_FILE", authority.c_str(), 1);
    }
    void TearDown() override { unsetenv("SSL_CERT_FILE"); }

    [[nodiscard]] static std::string url_of(const test::tls_front& front,
                                            const std::string& host = "127.0.0.1") {
        return "https://" + host + ':' + std::to_string(front.port());
    }
};

TEST_F(ExporterOverTls, BelievesWhatAnAuthorityOfTheSystemHasSigned) {
    const test::tls_files files;
    test::trace_collector collector;
    const test::tls_front front(files, collector.port());
    trust(files.ca());
    export_to(url_of(front));
    ack("id-1");
    EXPECT_TRUE(comes_to(trace_result::exported, 1)) << line();
}

TEST_F(ExporterOverTls, TellsNobodyElseAnything) {
    const test::tls_files files;
    const test::tls_files other("another authority");
    const test::tls_files stranger("test authority", test::server_certificate_is::for_another_name);
    test::trace_collector collector;
    const test::tls_front unknown(other, collector.port());
    const test::tls_front of_another_name(stranger, collector.port());
    for (const auto& [front, authority] :
         {std::pair(&unknown, files.ca()), std::pair(&of_another_name, stranger.ca())}) {
        trust(authority);
        export_to(url_of(*front));
        ack("id-1");
        ASSERT_TRUE(comes_to(trace_result::failed, 1));
        EXPECT_THAT(line(), HasSubstr("certificate verify failed"));
    }
    EXPECT_EQ(collector.requests().size(), 0U);
}

}  // namespace
}  // namespace walrelay::traces
