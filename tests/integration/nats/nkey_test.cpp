#include "nats/session/secrets.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace walrelay::nats {
namespace {

// The pair that the NATS documentation ("NKeys", server configuration) prints.
constexpr const char* seed = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY";
constexpr const char* key = "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4";

TEST(NkeyPublic, DerivesTheKeyThatTheServerKnows) {
    const auto derived = nkey_public(seed);
    ASSERT_TRUE(derived);
    EXPECT_EQ(*derived, key);
}

TEST(NkeyPublic, RefusesWhatIsNoSeedWithoutRepeatingIt) {
    std::string damaged = seed;
    damaged[10] = damaged[10] == 'A' ? 'B' : 'A';
    for (const auto& text : {std::string(), std::string("SU"), std::string("SU0!"), damaged}) {
        const auto derived = nkey_public(text);
        ASSERT_FALSE(derived) << text;
        EXPECT_EQ(derived.error().code, errc::file_unusable);
        EXPECT_THAT(to_string(derived.error()), testing::Not(testing::HasSubstr("SU0")));
    }
}

}  // namespace
}  // namespace walrelay::nats
