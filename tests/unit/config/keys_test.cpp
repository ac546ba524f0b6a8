// The table of keys as a whole.
#include "config/keys.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace walrelay::config {
namespace {

TEST(Keys, FormTheNameOfTheVariable) {
    ASSERT_NE(find_key("nats.tls.ca"), nullptr);
    EXPECT_EQ(find_key("nats.tls.ca")->variable(), "WALRELAY_NATS_TLS_CA");
    EXPECT_EQ(find_key("outbox.message_id")->variable(), "WALRELAY_OUTBOX_MESSAGE_ID");
}

TEST(Keys, StandInKnownSections) {
    for (const key& row : keys()) {
        EXPECT_NE(std::find(section_names.begin(), section_names.end(), row.section),
                  section_names.end())
            << row.full_name();
    }
}

TEST(Keys, HaveNamesVariablesAndFlagsOfTheirOwn) {
    std::set<std::string> names;
    for (const key& row : keys()) {
        EXPECT_TRUE(names.insert(row.full_name()).second) << row.full_name();
        EXPECT_TRUE(names.insert(row.variable()).second) << row.variable();
        EXPECT_TRUE(row.flag.empty() || names.insert(std::string(row.flag)).second) << row.flag;
    }
}

TEST(Keys, GiveFlagsToTheEssentials) {
    EXPECT_EQ(find_key("postgres.conninfo")->flag, "--postgres");
    EXPECT_EQ(find_key("nats.urls")->flag, "--nats");
    EXPECT_EQ(find_key("outbox.table")->flag, "--table");
}

TEST(Keys, ShowDefaultsInTheNotationOfTheFile) {
    EXPECT_EQ(find_key("delivery.window_bytes")->default_value(), "\"32MiB\"");
    EXPECT_EQ(find_key("nats.urls")->default_value(), "[\"nats://127.0.0.1:4222\"]");
    EXPECT_EQ(find_key("postgres.plugin")->default_value(), "\"auto\"");
    EXPECT_EQ(find_key("nats.replicas")->default_value(), "1");
    EXPECT_EQ(find_key("nats.credentials")->default_value(), "");
}

TEST(Keys, FindNothingForANameThatIsNone) {
    EXPECT_EQ(find_key("nats.tls"), nullptr);
    EXPECT_EQ(find_key(""), nullptr);
}

}  // namespace
}  // namespace walrelay::config
