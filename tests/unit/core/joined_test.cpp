#include "core/joined.hpp"

#include <gtest/gtest.h>

namespace walrelay {
namespace {

TEST(FollowedBy, PutsOneSemicolonBetween) {
    EXPECT_EQ(followed_by("stop it", "then start it"), "stop it; then start it");
    EXPECT_EQ(followed_by("GRANT x TO y;", "then start it"), "GRANT x TO y; then start it");
    EXPECT_EQ(followed_by("", "start it"), "start it");
}

TEST(ClauseOf, LosesTheSemicolonOfAStatement) {
    EXPECT_EQ(clause_of("refused; fix: GRANT x TO y;"), "refused; fix: GRANT x TO y");
    EXPECT_EQ(clause_of("refused"), "refused");
}

}  // namespace
}  // namespace walrelay
