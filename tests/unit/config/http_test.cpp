#include "unit/config/loading.hpp"

namespace walrelay::config {
namespace {

using testing::ElementsAre;

std::string listen_set_to(const std::string& text) {
    return "[http]\nlisten = \"" + text + "\"\n";
}

TEST(Http, ListensOnLoopbackUnlessToldOtherwise) {
    const auto settings = must_load(from_file(essentials));
    EXPECT_EQ(settings.http.listen, "127.0.0.1:8460");
    EXPECT_TRUE(settings.http.hosts.empty());
}

TEST(Http, TakesAddressesWithAPort) {
    for (const std::string text : {"127.0.0.1:0", "0.0.0.0:65535", "[::1]:8460", "off"}) {
        EXPECT_EQ(must_load_beside_essentials(listen_set_to(text)).http.listen, text);
    }
}

TEST(Http, RefusesWhatIsNoAddressWithAPort) {
    for (const std::string text :
         {"", "8460", ":8460", "127.0.0.1", "127.0.0.1:", "localhost:80", "127.0.0.1:65536",
          "127.0.0.1:+1", "::1:8460", "[]:1", "http://127.0.0.1:80"}) {
        EXPECT_EQ(problems_beside_essentials(listen_set_to(text)).size(), 1U) << text;
    }
    EXPECT_THAT(
        problems_beside_essentials(listen_set_to("*:80")),
        ElementsAre("walrelay.toml:6: http.listen: \"*:80\" is not an IP address with a port; "
                    "fix: write it like \"127.0.0.1:8460\" or \"[::1]:8460\", or "
                    "\"off\""));
}

TEST(Http, TakesNamesOfHosts) {
    EXPECT_THAT(
        must_load_beside_essentials("[http]\nhosts = [\"relay.internal\", \"a\"]\n").http.hosts,
        ElementsAre("relay.internal", "a"));
    for (const std::string text : {"", "http://a", "a:80", "a b", "*"}) {
        EXPECT_EQ(problems_beside_essentials("[http]\nhosts = [\"" + text + "\"]\n").size(), 1U)
            << text;
    }
}

}  // namespace
}  // namespace walrelay::config
