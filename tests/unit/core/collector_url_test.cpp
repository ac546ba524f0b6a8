#include "core/collector_url.hpp"

#include <gtest/gtest.h>

#include <string>

namespace walrelay {
namespace {

TEST(CollectorUrl, HasThePathOfTracesUnlessItHasOneOfItsOwn) {
    const collector_url plain{false, "collector", "4318", "/v1/traces"};
    EXPECT_EQ(parse_collector_url("http://collector:4318"), plain);
    EXPECT_EQ(parse_collector_url("http://collector:4318/"), plain);
    EXPECT_EQ(parse_collector_url("https://a.example/otlp/v1/traces"),
              (collector_url{true, "a.example", "443", "/otlp/v1/traces"}));
}

TEST(CollectorUrl, KnowsAddressesAndTheUsualPorts) {
    EXPECT_EQ(parse_collector_url("http://127.0.0.1"),
              (collector_url{false, "127.0.0.1", "80", "/v1/traces"}));
    EXPECT_EQ(parse_collector_url("https://[::1]:4318"),
              (collector_url{true, "::1", "4318", "/v1/traces"}));
    EXPECT_EQ(parse_collector_url("https://[::1]"),
              (collector_url{true, "::1", "443", "/v1/traces"}));
    EXPECT_EQ(authority_of(*parse_collector_url("https://[::1]")), "[::1]:443");
    EXPECT_EQ(authority_of(*parse_collector_url("http://a_b-c")), "a_b-c:80");
}

TEST(CollectorUrl, IsNothingElse) {
    for (const std::string text : {"",
                                   "collector:4318",
                                   "http://",
                                   "http:///",
                                   "http://:4318",
                                   "http://a:",
                                   "http://a:0",
                                   "http://a:65536",
                                   "http://a:+1",
                                   "http://a:1x",
                                   "HTTP://a",
                                   "grpc://a:4317",
                                   "http://user:secret@a:4318",
                                   "http://user@a",
                                   "http://a?key=secret",
                                   "http://a/p?k=v",
                                   "http://a/p#f",
                                   "http://a b",
                                   "http://a/p q",
                                   "http://a/\r\nX: y",
                                   "http://::1",
                                   "http://[::1",
                                   "http://[]",
                                   "http://[::1]x",
                                   "http://[a]:1:2",
                                   "https:/a"}) {
        EXPECT_FALSE(parse_collector_url(text)) << text;
    }
}

}  // namespace
}  // namespace walrelay
