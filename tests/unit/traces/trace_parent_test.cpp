#include "traces/trace_parent.hpp"

#include <gtest/gtest.h>

#include <string>

namespace walrelay::traces {
namespace {

const std::string trace = "4bf92f3577b34da6a3ce929d0e0e4736";
const std::string parent = "00f067aa0ba902b7";
const std::string valid = "00-" + trace + "-" + parent + "-01";

std::string with(std::size_t at, char other) {
    auto text = valid;
    text[at] = other;
    return text;
}

TEST(TraceParent, ReadsIdsAndFlags) {
    const auto found = parse_trace_parent(valid);
    ASSERT_TRUE(found);
    EXPECT_EQ(std::string(found->trace.begin(), found->trace.end()), trace);
    EXPECT_EQ(std::string(found->span.begin(), found->span.end()), parent);
    EXPECT_TRUE(found->is_sampled);
}

TEST(TraceParent, GoesByTheLowestBitOfTheFlags) {
    for (const auto& [flags, is_sampled] : {std::pair("00", false),
                                            {"01", true},
                                            {"02", false},
                                            {"03", true},
                                            {"ff", true},
                                            {"fe", false},
                                            {"1a", false},
                                            {"0b", true}}) {
        const auto found = parse_trace_parent("00-" + trace + "-" + parent + "-" + flags);
        ASSERT_TRUE(found) << flags;
        EXPECT_EQ(found->is_sampled, is_sampled) << flags;
    }
}

TEST(TraceParent, TakesALaterVersionWithMoreBehindTheFlags) {
    EXPECT_TRUE(parse_trace_parent("cc" + valid.substr(2)));
    EXPECT_TRUE(parse_trace_parent("cc" + valid.substr(2) + "-what-will-be"));
    EXPECT_FALSE(parse_trace_parent("cc" + valid.substr(2) + "x"));
    EXPECT_FALSE(parse_trace_parent(valid + "-more"));
}

TEST(TraceParent, RefusesWhatIsNotValid) {
    EXPECT_FALSE(parse_trace_parent(""));
    EXPECT_FALSE(parse_trace_parent("00"));
    EXPECT_FALSE(parse_trace_parent(valid + " "));
    EXPECT_FALSE(parse_trace_parent(" " + valid));
    EXPECT_FALSE(parse_trace_parent("ff" + valid.substr(2)));
    EXPECT_FALSE(parse_trace_parent("00-" + std::string(32, '0') + "-" + parent + "-01"));
    EXPECT_FALSE(parse_trace_parent("00-" + trace + "-" + std::string(16, '0') + "-01"));
}

TEST(TraceParent, RefusesItCutShortAnywhere) {
    for (std::size_t bytes = 0; bytes < valid.size(); ++bytes) {
        EXPECT_FALSE(parse_trace_parent(valid.substr(0, bytes))) << bytes;
    }
}

TEST(TraceParent, RefusesEveryOtherByteAnywhere) {
    for (std::size_t at = 0; at < valid.size(); ++at) {
        for (const char other : {'A', 'F', 'g', ' ', '_', '\0', '\xff', '/', ':'}) {
            EXPECT_FALSE(parse_trace_parent(with(at, other))) << at << other;
        }
        if (valid[at] == '-') {
            EXPECT_FALSE(parse_trace_parent(with(at, '0'))) << at;
        } else {
            EXPECT_FALSE(parse_trace_parent(with(at, '-'))) << at;
        }
    }
}

}  // namespace
}  // namespace walrelay::traces
