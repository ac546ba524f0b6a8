#include "postgres/session/transport.hpp"

#include <gtest/gtest.h>

namespace walrelay::postgres {
namespace {

TEST(Transport, IsLocalOverASocketAndOverLoopback) {
    EXPECT_EQ(judge_transport({.host = "/var/run/postgresql"}), transport_safety::local);
    EXPECT_EQ(judge_transport({.host = "@abstract"}), transport_safety::local);
    EXPECT_EQ(judge_transport({.host = "localhost", .address = "127.0.0.1"}),
              transport_safety::local);
    EXPECT_EQ(judge_transport({.host = "::1", .address = "::1"}), transport_safety::local);
}

TEST(Transport, IsClearWithoutEncryption) {
    EXPECT_EQ(judge_transport({.host = "db", .address = "10.0.0.1", .sslmode = "prefer"}),
              transport_safety::clear);
}

TEST(Transport, IsVerifiedOnlyWhereTheServersNameIs) {
    transport_facts facts{.host = "db", .address = "10.0.0.1", .tls = true};
    for (const auto* weaker : {"allow", "prefer", "require", "verify-ca"}) {
        facts.sslmode = weaker;
        EXPECT_EQ(judge_transport(facts), transport_safety::unverified) << weaker;
    }
    facts.sslmode = "verify-full";
    EXPECT_EQ(judge_transport(facts), transport_safety::verified);
    EXPECT_EQ(judge_transport({.host = "db", .address = "10.0.0.1", .gss = true}),
              transport_safety::verified);
}

}  // namespace
}  // namespace walrelay::postgres
