// Which messages are held to be walrelay's own, by their positions and by what stands around them.
#include "audit/provenance.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace walrelay::audit {
namespace {

constexpr std::uint64_t system_id = 7;
const known_history known{{{system_id, 3}}, lsn{0x1000}, true};

position at(std::uint64_t commit, std::uint32_t timeline = 3) {
    position where;
    where.origin = {system_id, timeline};
    where.at.commit = lsn{commit};
    return where;
}

claim claim_at(const position& where) {
    return claim_of(to_string(where), known).what;
}

TEST(Provenance, APositionBeforeTheConfirmedOneFits) {
    EXPECT_EQ(claim_at(at(0xFFF)), claim::fits);
    EXPECT_EQ(claim_at(at(0xFFF, 1)), claim::fits);
}

TEST(Provenance, APositionThatIsNotConfirmedYetIsAhead) {
    EXPECT_EQ(claim_at(at(0x1000)), claim::ahead);
    EXPECT_EQ(claim_at(at(0xFFFFFFFF)), claim::ahead);
}

TEST(Provenance, AnotherSystemOrALaterTimelineIsForeign) {
    auto other = at(1);
    other.origin.system_identifier = 8;
    EXPECT_EQ(claim_at(other), claim::foreign);
    EXPECT_EQ(claim_at(at(1, 4)), claim::foreign);
}

TEST(Provenance, WhatIsNoPositionClaimsNothing) {
    EXPECT_EQ(claim_of("", known).what, claim::none);
    EXPECT_EQ(claim_of("7.3.xyz.0", known).what, claim::none);
}

TEST(Provenance, MessagesInTheOrderOfTheirPositionsStandWell) {
    EXPECT_TRUE(is_in_order(at(20), {at(5), at(10), at(30)}));
    EXPECT_TRUE(is_in_order(at(20), {}));
    EXPECT_TRUE(is_in_order(at(20), {{}, at(10), {}}));
}

TEST(Provenance, AnOldPositionDoesNotAndSparesTheOneBefore) {
    EXPECT_FALSE(is_in_order(at(3), {at(10), at(20), at(30)}));
    EXPECT_TRUE(is_in_order(at(20), {at(5), at(10), at(3)}));
}

TEST(Provenance, OfTwoThatContradictEachOtherNeitherStandsWell) {
    // 15 may be forged, or 20 may.
    EXPECT_FALSE(is_in_order(at(20), {at(5), at(10), at(15)}));
    EXPECT_FALSE(is_in_order(at(15), {at(10), at(20), at(21)}));
    // The one before is itself beyond what came before it.
    EXPECT_FALSE(is_in_order(at(60), {at(90), at(50), at(30)}));
    EXPECT_FALSE(is_in_order(at(20), {{}, {}, at(10)}));
}

TEST(Provenance, TheSamePositionAgainIsNotInOrderAndTheFirstOfThemIs) {
    EXPECT_FALSE(is_in_order(at(20), {at(10), at(20), at(30)}));
    EXPECT_TRUE(is_in_order(at(20), {at(5), at(10), at(20)}));
}

TEST(Provenance, ALaterTimelineBeginsAnewAtALowerPosition) {
    EXPECT_TRUE(is_in_order(at(5, 3), {at(80, 2), at(90, 2), at(6, 3)}));
    EXPECT_TRUE(is_in_order(at(90, 2), {at(70, 2), at(80, 2), at(5, 3)}));
    EXPECT_FALSE(is_in_order(at(91, 2), {at(90, 2), at(5, 3), at(6, 3)}));
}

std::vector<std::string> own_among(const std::vector<std::pair<std::string, std::string>>& messages,
                                   known_history as = known) {
    own_messages judge(as);
    std::vector<std::string> ids;
    for (const auto& [id, position] : messages) {
        if (auto own = judge.add(id, position)) {
            ids.push_back(own->id);
        }
    }
    if (auto own = judge.end()) {
        ids.push_back(own->id);
    }
    return ids;
}

TEST(Provenance, FindsTheOwnMessagesOfAStream) {
    const std::vector<std::pair<std::string, std::string>> stream = {
        {"a", to_string(at(10))},       {"stranger", ""},
        {"b", to_string(at(20))},       {"old", to_string(at(5))},
        {"c", to_string(at(30))},       {"far", to_string(at(0xFFFFFFFF))},
        {"later", to_string(at(7, 9))}, {"d", to_string(at(40))}};
    EXPECT_EQ(own_among(stream), (std::vector<std::string>{"a", "b", "c", "d"}));
}

TEST(Provenance, BesideOtherWritersTheOrderSaysNothing) {
    auto shared = known;
    shared.in_order = false;
    EXPECT_EQ(own_among({{"a", to_string(at(10))}, {"b", to_string(at(5))}, {"c", ""}}, shared),
              (std::vector<std::string>{"a", "b"}));
}

}  // namespace
}  // namespace walrelay::audit
