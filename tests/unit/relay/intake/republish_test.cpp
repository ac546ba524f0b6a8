#include "relay/intake/republish.hpp"

#include <gtest/gtest.h>

namespace walrelay::relay {
namespace {

const relation table{"public", "outbox", {{"id", 25}, {"status", 25}}, 1};
const republish_rule rule{"status", "pending"};

bool again(field before, field now) {
    const std::vector<field> old_fields{"1", before};
    const std::vector<field> fields{"1", now};
    return publishes_again(rule, {&table, fields, old_fields, {}});
}

TEST(Republish, CountsAChangeToTheValue) {
    EXPECT_TRUE(again("published", "pending"));
    EXPECT_FALSE(again("pending", "published"));
    EXPECT_FALSE(again("pending", "pending"));
    EXPECT_FALSE(again("pending", {}));
}

TEST(Republish, CountsTheValueWhereTheOldRowIsNotKnown) {
    EXPECT_TRUE(again({}, "pending"));
    EXPECT_FALSE(again({}, "published"));
}

TEST(Republish, CountsAChangeToNull) {
    const republish_rule to_null{"status", std::nullopt};
    const auto again = [&](field before, field now, bool before_is_whole,
                           const std::vector<std::uint8_t>& missing = {}) {
        const std::vector<field> old_fields{"1", before};
        const std::vector<field> fields{"1", now};
        return publishes_again(to_null, {&table, fields, old_fields, missing, 0, before_is_whole});
    };
    EXPECT_TRUE(again("sent", {}, true));
    EXPECT_FALSE(again({}, {}, true)) << "it was NULL before";
    EXPECT_FALSE(again("sent", "sent", true));
    EXPECT_FALSE(again({}, "sent", true));
    EXPECT_TRUE(again({}, {}, false)) << "the old row is not known";
    EXPECT_FALSE(again({}, {}, false, {0, 1})) << "a large value that the WAL leaves out";
}

TEST(Republish, CountsNothingWithoutTheColumn) {
    const relation other{"public", "outbox", {{"id", 25}}, 1};
    const std::vector<field> fields{"pending"};
    EXPECT_FALSE(publishes_again(rule, {&other, fields, fields, {}}));
}

TEST(Republish, NamesItsOccasionByThePosition) {
    EXPECT_EQ(republish_occasion({lsn{0x16B37A0}, lsn{0x16B3748}, 7}, {{7, 1}, {}}),
              "republish-00000000016B3748-7");
}

TEST(Republish, TellsTimelinesApartThatUseAnLsnTwice) {
    const lineage line{{7, 3}, {{1, lsn{0x1000}}, {2, lsn{0x2000}}}};
    EXPECT_EQ(republish_occasion({lsn{0xFF8}, lsn{0xFF0}, 0}, line),
              "republish-0000000000000FF0-0");
    EXPECT_EQ(republish_occasion({lsn{0x1008}, lsn{0x1000}, 0}, line),
              "republish-0000000000001000-0-2");
    EXPECT_EQ(republish_occasion({lsn{0x3008}, lsn{0x3000}, 0}, line),
              "republish-0000000000003000-0-3");
}

TEST(Republish, CompletesARowWithWhatTheWalDoesNotHold) {
    const relation wide{"public", "outbox", {{"id", 25}, {"status", 25}, {"payload", 25}}, 1};
    const std::vector<field> fields{"1", "pending", {}};
    const std::vector<field> before(3);
    const std::vector<std::uint8_t> missing{0, 0, 1};
    const unfinished_row row{0, {lsn{8}, {}, 0}, {&wide, fields, before, missing}};
    EXPECT_EQ(row.known().columns.size(), 2U);
    const auto whole = row.completed(
        {{{"payload", 25}, {"id", 25}, {"status", 25}}, {"large", "1", "changed since"}});
    ASSERT_EQ(whole.values.size(), 3U);
    EXPECT_EQ(whole.values[0], "large");
    EXPECT_EQ(whole.values[2], "pending");
}

}  // namespace
}  // namespace walrelay::relay
