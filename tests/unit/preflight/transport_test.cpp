#include "preflight/transport.hpp"

#include "preflight/preflight.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace walrelay::preflight {
namespace {

using testing::HasSubstr;

std::vector<finding> found_of(transport_safety safety) {
    postgres_facts facts;
    facts.transport = safety;
    findings_list found;
    look_at_transport(facts, found);
    return found.take();
}

TEST(PreflightTransport, FindsNothingWhereNobodyIsOnTheWay) {
    EXPECT_TRUE(found_of(transport_safety::local).empty());
    EXPECT_TRUE(found_of(transport_safety::verified).empty());
}

TEST(PreflightTransport, WarnsOfAWayThatOthersCanReadOrPoseOn) {
    const auto clear = found_of(transport_safety::clear);
    ASSERT_EQ(clear.size(), 1U);
    EXPECT_EQ(clear[0].severity, finding_severity::warning);
    EXPECT_THAT(clear[0].what, HasSubstr("not encrypted"));
    const auto unverified = found_of(transport_safety::unverified);
    ASSERT_EQ(unverified.size(), 1U);
    EXPECT_THAT(unverified[0].what, HasSubstr("believes any server"));
    EXPECT_THAT(unverified[0].remedy, HasSubstr("sslmode=verify-full"));
}

TEST(PreflightTransport, WarnsOfASecretThatWasToldInTheClear) {
    broker_facts facts;
    facts.told_in_clear = true;
    const auto found = broker_findings({}, facts);
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found[0].severity, finding_severity::warning);
    EXPECT_THAT(found[0].what, HasSubstr("without encryption"));
    EXPECT_THAT(found[0].remedy, HasSubstr("tls://"));
}

}  // namespace
}  // namespace walrelay::preflight
