// Which servers a text names.
#include "config/url_list.hpp"

#include "unit/config/loading.hpp"

namespace walrelay::config {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(UrlList, IsTakenApartAtItsCommas) {
    EXPECT_THAT(split_urls("nats://a:1"), ElementsAre("nats://a:1"));
    EXPECT_THAT(split_urls("nats://a:1,tls://b:2"), ElementsAre("nats://a:1", "tls://b:2"));
    EXPECT_THAT(split_urls(" nats://a:1 , nats://b:2 "), ElementsAre("nats://a:1", "nats://b:2"));
    EXPECT_THAT(split_urls("nats://a:1,b:2"), ElementsAre("nats://a:1", "b:2"));
    EXPECT_THAT(split_urls("nats://a,,nats://b,"), ElementsAre("nats://a", "", "nats://b", ""));
    EXPECT_THAT(split_urls(" "), IsEmpty());
}

TEST(UrlList, LeavesAPasswordInOnePiece) {
    EXPECT_THAT(split_urls("nats://u:a,b@h:1"), ElementsAre("nats://u:a,b@h:1"));
    EXPECT_THAT(split_urls("nats://u:a,b@h:1,nats://u:c,d@i:2"),
                ElementsAre("nats://u:a,b@h:1", "nats://u:c,d@i:2"));
    EXPECT_THAT(split_urls("nats://h:1,nats://u:c@i:2"),
                ElementsAre("nats://h:1", "nats://u:c@i:2"));
}

TEST(UrlList, GetsASchemeWhereOtherProgramsNeedNone) {
    EXPECT_THAT(split_urls_of_nats("a:1, tls://b:2,c"),
                ElementsAre("nats://a:1", "tls://b:2", "nats://c"));
}

TEST(UrlList, MayStandInOneItemOfTheFile) {
    EXPECT_THAT(
        must_load_beside_essentials("[nats]\nurls = [\"nats://a:1,nats://b:2\"]\n").nats.urls,
        ElementsAre("nats://a:1", "nats://b:2"));
    EXPECT_THAT(must_load_beside_essentials("[nats]\nurls = [\"nats://a\", \"tls://b, tls://c\"]\n")
                    .nats.urls,
                ElementsAre("nats://a", "tls://b", "tls://c"));
}

TEST(UrlList, NamesThePlaceOfAWrongOne) {
    EXPECT_THAT(problems_beside_essentials("[nats]\nurls = [\"nats://a:1,b:2\"]\n"),
                ElementsAre("walrelay.toml:6: nats.urls: an address is not of the form "
                            "nats://host:port or tls://host:port; fix: write it like "
                            "nats://127.0.0.1:4222, without blanks"));
}

TEST(UrlList, OfNatsUrlCountsWhereNothingElseNamesServers) {
    auto from = from_file(essentials);
    from.nats_url = "a:1,tls://b:2";
    EXPECT_THAT(must_load(from).nats.urls, ElementsAre("nats://a:1", "tls://b:2"));
    from.nats_url = "";
    EXPECT_EQ(must_load(from).nats.urls, settings{}.nats.urls);
}

TEST(UrlList, OfNatsUrlGivesWayToEveryOtherSource) {
    auto from = from_file(essentials + "[nats]\nurls = [\"nats://file\"]\n");
    from.nats_url = "nats://variable";
    EXPECT_THAT(must_load(from).nats.urls, ElementsAre("nats://file"));
    from = from_file(essentials);
    from.nats_url = "nats://variable";
    from.variables = {{"WALRELAY_NATS_URLS", "nats://own"}};
    EXPECT_THAT(must_load(from).nats.urls, ElementsAre("nats://own"));
    from.variables.clear();
    from.flags = {{"nats.urls", "nats://flag"}};
    EXPECT_THAT(must_load(from).nats.urls, ElementsAre("nats://flag"));
}

TEST(UrlList, OfNatsUrlIsJudgedLikeAnyOther) {
    auto from = from_file(essentials);
    from.nats_url = "wss://user:s3cret@host";
    const auto problems = problems_of(from);
    EXPECT_THAT(problems, ElementsAre("NATS_URL: nats.urls: an address is not of the form "
                                      "nats://host:port or tls://host:port; fix: write it like "
                                      "nats://127.0.0.1:4222, without blanks"));
}

TEST(UrlList, OfNatsUrlIsNotAskedWhereUrlsAreWrong) {
    auto from = from_file(essentials + "[nats]\nurls = [\"no\"]\n");
    from.nats_url = "wrong://";
    EXPECT_EQ(problems_of(from).size(), 1U);
}

}  // namespace
}  // namespace walrelay::config
