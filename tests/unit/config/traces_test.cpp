#include "unit/config/loading.hpp"

namespace walrelay::config {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;

TEST(Traces, AreOffUnlessACollectorIsNamed) {
    const auto settings = must_load(from_file(essentials));
    EXPECT_EQ(settings.traces.endpoint, "");
    EXPECT_THAT(settings.traces.headers, IsEmpty());
    EXPECT_EQ(settings.traces.service_name, "walrelay");
}

TEST(Traces, TakeACollectorWithHeaders) {
    const auto traces = must_load_beside_essentials(
                            "[traces]\nendpoint = \"https://collector:4318\"\n"
                            "headers = { Authorization = \"Bearer a b\", X-Scope-OrgID = \"1\" }\n"
                            "service_name = \"orders relay\"\n")
                            .traces;
    EXPECT_EQ(traces.endpoint, "https://collector:4318");
    EXPECT_THAT(traces.headers,
                ElementsAre(Pair("Authorization", "Bearer a b"), Pair("X-Scope-OrgID", "1")));
    EXPECT_EQ(traces.service_name, "orders relay");
}

TEST(Traces, TakeVariables) {
    const auto traces =
        must_load(from_variables({{"WALRELAY_TRACES_ENDPOINT", "http://collector:4318"},
                                  {"WALRELAY_TRACES_HEADERS", "{ Authorization = \"secret\" }"},
                                  {"WALRELAY_TRACES_SERVICE_NAME", "orders"}}))
            .traces;
    EXPECT_EQ(traces.endpoint, "http://collector:4318");
    EXPECT_THAT(traces.headers, ElementsAre(Pair("Authorization", "secret")));
    EXPECT_EQ(traces.service_name, "orders");
}

TEST(Traces, NeverQuoteWhatMayBeASecret) {
    const auto problems = problems_beside_essentials(
        "[traces]\nendpoint = \"http://user:secret@collector\"\n"
        "headers = { \"a b\" = \"secret\", Host = \"secret\", X = \"secret\\nmore\" }\n");
    ASSERT_EQ(problems.size(), 4U);
    EXPECT_THAT(problems[0], AllOf(HasSubstr("traces.endpoint"), HasSubstr("traces.headers")));
    for (const auto& each : problems) {
        EXPECT_THAT(each, Not(HasSubstr("secret@")));
        EXPECT_THAT(each, Not(HasSubstr("secret\\n")));
        EXPECT_THAT(each, Not(HasSubstr("\"secret\"")));
    }
}

TEST(Traces, LeaveToWalrelayWhatItSetsItself) {
    for (const std::string name : {"Host", "content-type", "Content-Length", "Connection",
                                   "TRANSFER-ENCODING", "Content-Encoding"}) {
        EXPECT_EQ(
            problems_beside_essentials("[traces]\nheaders = { " + name + " = \"x\" }\n").size(), 1U)
            << name;
    }
}

TEST(Traces, NeedANameOfTheService) {
    EXPECT_EQ(problems_beside_essentials("[traces]\nservice_name = \"\"\n").size(), 1U);
}

}  // namespace
}  // namespace walrelay::config
