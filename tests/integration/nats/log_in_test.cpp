#include "nats/session/log_in.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace walrelay::nats {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(LogIn, ReadsWhatTheServerSaysOfItself) {
    const auto met = parse_greeting(
        R"({"server_id":"X","nonce":"abc","max_payload":1048576,"tls_required":true})");
    ASSERT_TRUE(met);
    EXPECT_EQ(met->nonce, "abc");
    EXPECT_EQ(met->max_payload_bytes, 1048576U);
    EXPECT_TRUE(met->tls_required);
    EXPECT_FALSE(met->tls_available);
}

TEST(LogIn, RefusesAServerThatIsNoNatsServer) {
    for (const std::string_view text : {"", "{", "[]", "SSH-2.0"}) {
        EXPECT_FALSE(parse_greeting(text)) << text;
    }
}

TEST(LogIn, EscapesWhatItSends) {
    const auto line = connect_line({}, {}, {.user = "a\"b", .password = "c\\d\n"}, false);
    ASSERT_TRUE(line);
    EXPECT_THAT(*line, HasSubstr(R"("user":"a\"b","pass":"c\\d\u000a",)"));
    EXPECT_TRUE(line->starts_with("CONNECT {"));
    EXPECT_TRUE(line->ends_with("}\r\n"));
}

TEST(LogIn, TakesWhatTheAddressNamesBeforeTheFiles) {
    const auto line = connect_line({}, {.token = "of the address"}, {.user = "of the file"}, true);
    ASSERT_TRUE(line);
    EXPECT_THAT(*line, HasSubstr(R"("auth_token":"of the address")"));
    EXPECT_THAT(*line, Not(HasSubstr("of the file")));
    EXPECT_THAT(*line, HasSubstr(R"("tls_required":true)"));
}

}  // namespace
}  // namespace walrelay::nats
