#include "tasks/kept_positions/keep_words.hpp"

#include <gmock/gmock.h>

namespace walrelay::test {
namespace {

using tasks::kept_sight;
using tasks::say_of_failed_look;
using testing::HasSubstr;

const error refused{errc::postgres_unsuitable, "the role may not read walrelay.bookmark"};
const error away{errc::postgres_unavailable, "PostgreSQL cannot be reached"};

TEST(KeepWords, SayNothingWhereNothingIsKeptOrWanted) {
    for (const auto& why : {refused, away}) {
        EXPECT_FALSE(say_of_failed_look(kept_sight::none, false, 1, why));
        EXPECT_FALSE(say_of_failed_look(kept_sight::none, false, 9, why)) << why.what;
    }
}

TEST(KeepWords, DoNotSpeakOfPositionsBeforeAnybodyHasLooked) {
    for (const auto failures : {1, 9}) {
        const auto said = say_of_failed_look(kept_sight::unknown, false, failures, refused);
        ASSERT_TRUE(said);
        EXPECT_FALSE(said->is_warning);
        EXPECT_THAT(said->text, HasSubstr("is not known: the role may not read"));
        EXPECT_THAT(said->text, Not(HasSubstr("not looked after")));
    }
}

TEST(KeepWords, WarnWhereThereAreSomeOrSomeAreWantedAndItDoesNotPass) {
    for (const auto& why : {refused, away}) {
        const auto first = say_of_failed_look(kept_sight::some, false, 1, why);
        ASSERT_TRUE(first);
        EXPECT_FALSE(first->is_warning) << "it usually passes";
        EXPECT_TRUE(say_of_failed_look(kept_sight::some, false, 2, why)->is_warning);
        for (const auto sight : {kept_sight::unknown, kept_sight::none}) {
            const auto wanted = say_of_failed_look(sight, true, 2, why);
            ASSERT_TRUE(wanted);
            EXPECT_TRUE(wanted->is_warning);
            EXPECT_THAT(wanted->text, HasSubstr("positions for a replay are not looked after"));
        }
    }
}

}  // namespace
}  // namespace walrelay::test
