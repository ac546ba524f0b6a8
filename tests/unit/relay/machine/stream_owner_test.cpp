#include "relay/machine/stream_owner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace walrelay::relay {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const stream_owner me{"outbox", "app", 7};

std::vector<finding> look(const stream_owner& owner, std::string_view description,
                          bool sole_writer = true) {
    preflight::expectations wanted;
    wanted.stream = "EVENTS";
    wanted.sole_writer = sole_writer;
    return owner_findings(wanted, owner, description);
}

TEST(StreamOwner, IsReadBackAsItWasWritten) {
    EXPECT_EQ(to_string(me), "walrelay slot=outbox database=app system=7");
    EXPECT_EQ(owner_in(to_string(me)), me);
    const stream_owner odd{"s", "a \"b\"=c%\n\xC3\xA4 system=9", 0};
    EXPECT_EQ(owner_in(to_string(odd)), odd);
}

TEST(StreamOwner, SaysUnderWhichRulesTheStreamWasFilledAndSinceWhen) {
    stream_owner marked = me;
    marked.rules = "comparing-ids-0123456789abcdef";
    marked.since = lsn{0x1A2B3C};
    marked.disordered_after = 10;
    marked.disordered_until = 20;
    marked.disordered_below = lsn{0xFF};
    EXPECT_THAT(to_string(marked),
                HasSubstr(" rules=comparing-ids-0123456789abcdef.1a2b3c disordered=10-20-ff"));
    EXPECT_EQ(owner_in(to_string(marked)), marked);
    EXPECT_TRUE(is_being_compared(marked));
    EXPECT_TRUE(is_compared_with_ids(marked));
    EXPECT_EQ(fingerprint_in(marked), "0123456789abcdef");
    EXPECT_FALSE(may_have_holes(marked));
    marked.rules = "comparing-ids-holes-0123456789abcdef";
    EXPECT_TRUE(may_have_holes(marked));
    EXPECT_TRUE(is_compared_with_ids(marked));
    EXPECT_EQ(fingerprint_in(marked), "0123456789abcdef");
    marked.rules = "shared-0123456789abcdef";
    EXPECT_TRUE(is_shared(marked));
    EXPECT_TRUE(may_have_holes(marked));
    EXPECT_FALSE(is_being_compared(marked));
    marked.disordered_until.reset();
    EXPECT_EQ(owner_in(to_string(marked)), marked);
}

TEST(StreamOwner, SaysSinceWhenAnIdStandsForItsRow) {
    stream_owner marked = me;
    marked.rules = "0123456789abcdef";
    marked.disordered_until = 20;
    marked.ids = {{"00000000000000aa", lsn{0x1A2B}}, {"00000000000000bb", lsn{}}};
    EXPECT_THAT(to_string(marked), HasSubstr(" ids=00000000000000aa.1a2b-00000000000000bb.0"));
    EXPECT_EQ(owner_in(to_string(marked)), marked);
    EXPECT_EQ(ids_in(marked, "00000000000000aa"), marked.ids.front());
    EXPECT_EQ(ids_in(marked, "00000000000000cc"), std::nullopt);
}

TEST(StreamOwner, HasRoomForTheIdsOfManyTables) {
    constexpr std::size_t longest_description = 4096;
    std::vector<outbox_table> tables;
    for (const auto count : {64U, 65U}) {
        while (tables.size() < count) {
            tables.push_back({.table = {"public", "t" + std::to_string(tables.size())}});
        }
        const auto all = fingerprints_of_ids(tables);
        ASSERT_EQ(all.size(), count);
        EXPECT_EQ(all.front() == all.back(), count > 64);
    }
    stream_owner marked = me;
    marked.slot = marked.database = std::string(63, '\xC3');
    for (int table = 0; table < 64; ++table) {
        marked.ids.push_back({"0123456789abcdef", lsn{~std::uint64_t{0}}});
    }
    EXPECT_LT(to_string(marked).size(), longest_description - 1000);
    auto other = tables;
    other.back().message_id = "{reference}";
    EXPECT_NE(fingerprints_of_ids(other).front(), fingerprints_of_ids(tables).front());
}

TEST(StreamOwner, KeepsADisorderInMindThatTheSlotCanGoBackTo) {
    EXPECT_EQ(disordered_from(std::nullopt, lsn{100}, 7), 0U);
    auto marked = std::optional(me);
    EXPECT_EQ(disordered_from(marked, lsn{100}, 7), 7U);
    marked->disordered_after = 3;
    marked->disordered_until.reset();
    EXPECT_EQ(disordered_from(marked, lsn{100}, 7), 3U);
    EXPECT_EQ(disordered_from(marked, lsn{100}, 2), 2U) << "the broker has lost messages";
    marked->disordered_until = 5;
    marked->disordered_below = lsn{100};
    EXPECT_EQ(disordered_from(marked, lsn{100}, 7), 3U);
    EXPECT_EQ(disordered_from(marked, lsn{100 + (64ULL << 30U)}, 7), 3U) << "it can go back";
    EXPECT_EQ(disordered_from(marked, lsn{101 + (64ULL << 30U)}, 7), 7U);
}

TEST(StreamOwner, IsFoundWithinAnOperatorsOwnWords) {
    EXPECT_EQ(owner_in("Orders (walrelay slot=outbox database=app system=7), see the wiki"), me);
    EXPECT_EQ(owner_in("walrelay slot=outbox database=app"), (stream_owner{"outbox", "app", 0}));
}

TEST(StreamOwner, IsNotFoundInOtherWords) {
    for (const auto* const text :
         {"", "Orders", "walrelay", "walrelay slot=outbox", "walrelay slot=outbox database=%4",
          "walrelay slot=outbox; database=app", "walrelay slot=%zz database=app"}) {
        EXPECT_EQ(owner_in(text), std::nullopt) << text;
    }
}

TEST(StreamOwner, ClaimsAStreamWithoutADescription) {
    EXPECT_EQ(description_to_claim(me, ""), to_string(me));
    EXPECT_EQ(description_to_claim(me, "Orders"), std::nullopt);
    EXPECT_EQ(description_to_claim(me, to_string(me)), std::nullopt);
}

TEST(StreamOwner, ClaimsItAgainOnlyForANewSystemIdentifier) {
    EXPECT_EQ(description_to_claim(me, "a walrelay slot=outbox database=app system=6 b"),
              "a " + to_string(me) + " b");
    EXPECT_EQ(description_to_claim(me, "a walrelay slot=outbox database=other system=6 b"),
              std::nullopt);
    EXPECT_EQ(description_to_claim({"outbox", "app", 0}, to_string(me)), std::nullopt);
}

TEST(StreamOwner, ReplacesAllOfAMarkWhoseOrderIsAnother) {
    const auto claimed = description_to_claim(
        me, "a walrelay slot=outbox database=app rules=h history=%d0 system=6 disordered=3- b");
    EXPECT_EQ(claimed, "a " + to_string(me) + " b");
    const auto known = owner_in("walrelay slot=outbox database=app timeline=2 system=7");
    ASSERT_TRUE(known);
    EXPECT_EQ(known->system_identifier, 7U);
    EXPECT_EQ(known->timeline, 2U);
}

TEST(StreamOwner, HasNoPlaceForRulesOrADisorderThatAreMissing) {
    for (const std::string rest : {" rules=.5", " disordered=0-0-ff", " disordered=--"}) {
        const auto read = owner_in("walrelay slot=outbox database=app" + rest);
        ASSERT_TRUE(read) << rest;
        EXPECT_EQ(owner_in(to_string(*read)), read) << rest;
        EXPECT_EQ(read->since, lsn{}) << rest;
    }
}

TEST(StreamOwner, OfAnotherDatabaseOrSlotForbidsToStart) {
    for (const auto& other :
         {stream_owner{"outbox", "clinic", 7}, stream_owner{"other", "app", 7}}) {
        const auto found = look(me, to_string(other));
        ASSERT_THAT(found, SizeIs(1));
        EXPECT_FALSE(can_start(found));
        EXPECT_THAT(found[0].what,
                    HasSubstr("slot " + other.slot + " of database " + other.database));
        EXPECT_THAT(found[0].remedy,
                    HasSubstr("nats stream edit EVENTS --description \"" + to_string(me) + "\""));
    }
}

TEST(StreamOwner, OfAnotherSystemIdentifierAloneForbidsNothing) {
    EXPECT_THAT(look(me, to_string(stream_owner{"outbox", "app", 8})), IsEmpty());
}

TEST(StreamOwner, ForbidsNothingBesideOtherWritersOrWithoutAMark) {
    EXPECT_THAT(look(me, to_string(stream_owner{"other", "app", 7}), false), IsEmpty());
    EXPECT_THAT(look(me, ""), IsEmpty());
    EXPECT_THAT(look(me, "Orders of the shop"), IsEmpty());
}

}  // namespace
}  // namespace walrelay::relay
