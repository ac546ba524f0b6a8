// Keys whose work is not built yet are refused by name, never ignored.
#include "unit/config/loading.hpp"

namespace walrelay::config {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string refused(const std::string& key, int line) {
    return "walrelay.toml:" + std::to_string(line) + ": " + key +
           ": is not available in this version yet. To mend it: remove it";
}

std::string refused_but(const std::string& key, int line, const std::string& accepted) {
    return "walrelay.toml:" + std::to_string(line) + ": " + key + ": anything but " + accepted +
           " is not available in this version yet. To mend it: remove it, or write " + accepted;
}

TEST(LaterKeys, AreRefusedByName) {
    EXPECT_THAT(
        problems_of(from_file("[delivery]\non_slot_loss = \"heal\"\n"
                              "[http]\nlisten = \"127.0.0.1:8460\"\n"
                              "[postgres]\nconninfo = \"dbname=app\"\nsnapshot = \"pending\"\n"
                              "[[outbox]]\ntable = \"events\"\npending = \"a = 1\"\n"
                              "republish = { column = \"a\", value = \"b\" }\n"
                              "on_published = \"a = 2\"\non_dead_letter = \"a = 3\"\n"
                              "delete_after = \"7d\"\n")),
        ElementsAre(refused_but("delivery.on_slot_loss", 2, "\"halt\""), refused("http.listen", 4),
                    refused_but("postgres.snapshot", 7, "\"none\""), refused("outbox.pending", 10),
                    refused("outbox.republish", 11), refused("outbox.on_published", 12),
                    refused("outbox.on_dead_letter", 13), refused("outbox.delete_after", 14)));
}

TEST(LaterKeys, AreAcceptedWhereTheyAskForWhatIsDoneAnyway) {
    EXPECT_THAT(problems_of(from_file("[delivery]\non_slot_loss = \"halt\"\n[http]\n"
                                      "[postgres]\nconninfo = \"dbname=app\"\nsnapshot = \"none\"\n"
                                      "[[outbox]]\ntable = \"events\"\n")),
                IsEmpty());
}

TEST(LaterKeys, FollowTheSameRuleInTheEnvironment) {
    EXPECT_THAT(problems_of(from_variables({{"WALRELAY_DELIVERY_ON_SLOT_LOSS", "halt"},
                                            {"WALRELAY_POSTGRES_SNAPSHOT", "none"}})),
                IsEmpty());
    EXPECT_THAT(problems_of(from_variables({{"WALRELAY_HTTP_LISTEN", "127.0.0.1:0"},
                                            {"WALRELAY_DELIVERY_ON_SLOT_LOSS", "heal"}})),
                ElementsAre("WALRELAY_DELIVERY_ON_SLOT_LOSS: delivery.on_slot_loss: anything but "
                            "\"halt\" is not available in this version yet. To mend it: remove it, "
                            "or write \"halt\"",
                            "WALRELAY_HTTP_LISTEN: http.listen: is not available in this version "
                            "yet. To mend it: remove it"));
}

TEST(LaterKeys, AreRefusedWithAValueOfAnotherType) {
    EXPECT_EQ(problems_beside_essentials("[delivery]\non_slot_loss = true\n").size(), 1U);
}

}  // namespace
}  // namespace walrelay::config
