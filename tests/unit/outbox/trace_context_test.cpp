// Trace context out of metadata, broken metadata among it.
#include "outbox/trace_context.hpp"

#include <gtest/gtest.h>

namespace walrelay::outbox {
namespace {

struct owned_context {
    std::string traceparent;
    std::string tracestate;
};

/// What is found, "-" for nothing.
owned_context read(std::string_view metadata) {
    trace_context_reader reader;
    const auto found = reader.read(metadata);
    return {std::string(found.traceparent.value_or("-")),
            std::string(found.tracestate.value_or("-"))};
}

TEST(TraceContext, IsFoundAtTheTopOfMetadata) {
    const auto found = read(R"({"source": {"a": [1]}, "traceparent": "00-ab-cd-01",
                                "n": null, "tracestate": "k=v"})");
    EXPECT_EQ(found.traceparent, "00-ab-cd-01");
    EXPECT_EQ(found.tracestate, "k=v");
}

TEST(TraceContext, IsUnescaped) {
    EXPECT_EQ(read(R"({"traceparent": "a\"\u00fc\n"})").traceparent, "a\"ü\n");
}

TEST(TraceContext, CanBeTraceparentAlone) {
    const auto found = read(R"({"traceparent":"x"})");
    EXPECT_EQ(found.traceparent, "x");
    EXPECT_EQ(found.tracestate, "-");
}

TEST(TraceContext, IsTheLastOfTwoMembersAsInJsonb) {
    EXPECT_EQ(read(R"({"traceparent":"one","traceparent":"two"})").traceparent, "two");
}

TEST(TraceContext, IsNotTakenFromNestedObjects) {
    EXPECT_EQ(read(R"({"trace": {"traceparent": "x"}})").traceparent, "-");
}

TEST(TraceContext, IsNotTakenFromValuesThatAreNoStrings) {
    const auto found = read(R"({"traceparent": {"a": 1}, "tracestate": "k=v"})");
    EXPECT_EQ(found.traceparent, "-");
    EXPECT_EQ(found.tracestate, "k=v");
}

TEST(TraceContext, IsNothingInBrokenJson) {
    for (const char* metadata :
         {"traceparent", R"({"traceparent": "x")", R"({"traceparent": "x",})",
          R"({"traceparent": x})", R"({"traceparent"})", R"(["traceparent"])", R"("traceparent")",
          R"({"traceparent": "x)", R"({"traceparent": "\q"})"}) {
        EXPECT_EQ(read(metadata).traceparent, "-") << metadata;
    }
}

TEST(TraceContext, OfOneRowIsNotTakenForThatOfTheNext) {
    trace_context_reader reader;
    EXPECT_TRUE(reader.read(R"({"traceparent":"long enough to be seen"})").traceparent);
    EXPECT_FALSE(reader.read(R"({"traceparent":1})").traceparent);
    EXPECT_FALSE(reader.read("{}").traceparent);
}

}  // namespace
}  // namespace walrelay::outbox
