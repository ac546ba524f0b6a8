// Keys whose work is not built yet are refused by name, never ignored.
#include "unit/config/loading.hpp"

namespace walrelay::config {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(LaterKeys, AreRefusedByName) {
    EXPECT_THAT(problems_beside_essentials("[http]\nlisten = \"127.0.0.1:8460\"\n"),
                ElementsAre("walrelay.toml:6: http.listen: is not available in this version yet. "
                            "To mend it: remove it"));
}

TEST(LaterKeys, LeaveTheirSectionInPlace) {
    EXPECT_THAT(problems_beside_essentials("[http]\n"), IsEmpty());
}

TEST(LaterKeys, FollowTheSameRuleInTheEnvironment) {
    EXPECT_THAT(problems_of(from_variables({{"WALRELAY_HTTP_LISTEN", "127.0.0.1:0"}})),
                ElementsAre("WALRELAY_HTTP_LISTEN: http.listen: is not available in this version "
                            "yet. To mend it: remove it"));
}

TEST(LaterKeys, AreRefusedWithAValueOfAnotherType) {
    EXPECT_EQ(problems_beside_essentials("[http]\nlisten = true\n").size(), 1U);
}

}  // namespace
}  // namespace walrelay::config
