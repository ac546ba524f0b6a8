#include "relay/intake/row_fates.hpp"

#include <gtest/gtest.h>

namespace walrelay::relay {
namespace {

constexpr commit_position first{lsn{0x100}, lsn{0x80}};
constexpr commit_position second{lsn{0x100}, lsn{0x90}};

message at(commit_position where, std::string id = "1") {
    message made;
    made.where.at = where;
    made.id = std::move(id);
    return made;
}

condemnation refused() {
    return {{errc::message_refused, "no", "yes"}, 10054, 3};
}

TEST(RowFates, CondemnOnePositionAlone) {
    row_fates fates;
    fates.condemn(first, refused());
    ASSERT_NE(fates.reason_for(at(first), false), nullptr);
    EXPECT_EQ(fates.reason_for(at(first), false)->error_code, 10054);
    EXPECT_EQ(fates.reason_for(at(second), false), nullptr);
}

TEST(RowFates, NothingIsStoredOnceTheStreamHasLostMessages) {
    row_fates fates;
    fates.keep_stored(first);
    EXPECT_TRUE(fates.is_stored(first));
    fates.forget_stored();
    EXPECT_FALSE(fates.is_stored(first));
}

TEST(RowFates, OfASnapshotAreKnownByTheirId) {
    row_fates fates;
    fates.condemn_row("7", refused());
    EXPECT_NE(fates.reason_for(at(first, "7"), true), nullptr);
    EXPECT_EQ(fates.reason_for(at(first, "8"), true), nullptr);
    EXPECT_EQ(fates.reason_for(at(first, "7"), false), nullptr) << "the slot's rows have positions";
    fates.end_snapshot();
    EXPECT_EQ(fates.reason_for(at(first, "7"), true), nullptr);
}

TEST(RowFates, ADeadLetterStaysOneUntilTheNextConnection) {
    row_fates fates;
    fates.keep_dead({second, first});
    EXPECT_TRUE(fates.is_dead(first));
    EXPECT_TRUE(fates.is_dead(second));
    EXPECT_EQ(fates.reason_for(at(second), false), nullptr) << "no letter is made again";
    fates.begin_connection();
    EXPECT_FALSE(fates.is_dead(first));
}

TEST(RowFates, SayNothingOfAnotherHistory) {
    row_fates fates;
    fates.condemn(first, refused());
    fates.keep_stored(second);
    EXPECT_TRUE(fates.is_stored(second));
    fates.begin_history();
    EXPECT_EQ(fates.reason_for(at(first), false), nullptr);
    EXPECT_FALSE(fates.is_stored(second));
}

}  // namespace
}  // namespace walrelay::relay
