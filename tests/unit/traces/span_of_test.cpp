#include "traces/span_of.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace walrelay::traces {
namespace {

using namespace std::chrono_literals;

const std::string sampled = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

class SpanOf : public testing::Test {
protected:
    SpanOf() {
        content_.where = {{7, 1}, {lsn{0x1000}, lsn{0x900}, 2}};
        content_.committed_at = committed;
        content_.id = "id-1";
        content_.subject = "events.a";
        content_.body = "1234";
    }

    [[nodiscard]] std::optional<span> made(wall_time published = committed + 20ms) const {
        return span_of({content_, published, published + 5ms, 41});
    }

    static constexpr wall_time committed{1'000s};
    message content_;
};

TEST_F(SpanOf, GoesFromTheCommitOverThePublishToTheAck) {
    content_.add_header("traceparent", sampled);
    content_.add_header("tracestate", "vendor=1");
    const auto found = made();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->parent, *parse_trace_parent(sampled));
    EXPECT_EQ(found->trace_state, "vendor=1");
    EXPECT_EQ(found->committed_at, committed);
    EXPECT_EQ(found->published_at, committed + 20ms);
    EXPECT_EQ(found->acked_at, committed + 25ms);
    EXPECT_EQ(found->subject, "events.a");
    EXPECT_EQ(found->message_id, "id-1");
    EXPECT_EQ(found->body_bytes, 4U);
    EXPECT_EQ(found->where, content_.where);
    EXPECT_EQ(found->sequence, 41U);
}

TEST_F(SpanOf, IsMadeOnlyWhereTheParentIsValidAndSampled) {
    EXPECT_FALSE(made());
    content_.add_header("traceparent", sampled.substr(0, sampled.size() - 2) + "00");
    EXPECT_FALSE(made());
    content_.add_header("traceparent", "00-nonsense-01");
    EXPECT_FALSE(made());
    content_.add_header("traceparent", sampled);
    EXPECT_TRUE(made());
}

TEST_F(SpanOf, NeverBeginsAfterItsPublish) {
    content_.add_header("traceparent", sampled);
    const auto found = made(committed - 3s);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->committed_at, committed - 3s);
    EXPECT_EQ(found->acked_at, committed - 3s + 5ms);
}

TEST_F(SpanOf, BeginsWithThePublishWhereTheCommitIsNotKnown) {
    content_.add_header("traceparent", sampled);
    content_.committed_at = {};
    EXPECT_EQ(made()->committed_at, committed + 20ms);
    content_.committed_at = committed;
    content_.where.at.commit = before_slot(lsn{0x1000});
    EXPECT_EQ(made()->committed_at, committed + 20ms);
}

}  // namespace
}  // namespace walrelay::traces
