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
        problems_of(from_file("[nats]\nsole_writer = false\n"
                              "[delivery]\nconfirm_delay = \"10s\"\nmax_attempts = 5\n"
                              "on_poison = \"dead_letter\"\non_slot_loss = \"heal\"\n"
                              "[http]\nlisten = \"127.0.0.1:8460\"\n"
                              "[postgres]\nconninfo = \"dbname=app\"\nsnapshot = \"pending\"\n"
                              "[[outbox]]\ntable = \"events\"\npending = \"a = 1\"\n"
                              "republish = { column = \"a\", value = \"b\" }\n"
                              "on_published = \"a = 2\"\non_dead_letter = \"a = 3\"\n"
                              "delete_after = \"7d\"\n")),
        ElementsAre(refused_but("nats.sole_writer", 2, "true"),
                    refused_but("delivery.confirm_delay", 4, "\"0s\""),
                    refused("delivery.max_attempts", 5),
                    refused_but("delivery.on_poison", 6, "\"halt\""),
                    refused_but("delivery.on_slot_loss", 7, "\"halt\""), refused("http.listen", 9),
                    refused_but("postgres.snapshot", 12, "\"none\""), refused("outbox.pending", 15),
                    refused("outbox.republish", 16), refused("outbox.on_published", 17),
                    refused("outbox.on_dead_letter", 18), refused("outbox.delete_after", 19)));
}

TEST(LaterKeys, AreAcceptedWhereTheyAskForWhatIsDoneAnyway) {
    EXPECT_THAT(problems_of(from_file("[nats]\nsole_writer = true\n"
                                      "[delivery]\nconfirm_delay = \"0ms\"\non_poison = \"halt\"\n"
                                      "on_slot_loss = \"halt\"\n[http]\n"
                                      "[postgres]\nconninfo = \"dbname=app\"\nsnapshot = \"none\"\n"
                                      "[[outbox]]\ntable = \"events\"\n")),
                IsEmpty());
}

TEST(LaterKeys, FollowTheSameRuleInTheEnvironment) {
    EXPECT_THAT(problems_of(from_variables({{"WALRELAY_DELIVERY_CONFIRM_DELAY", "0s"},
                                            {"WALRELAY_NATS_SOLE_WRITER", "true"},
                                            {"WALRELAY_POSTGRES_SNAPSHOT", "none"}})),
                IsEmpty());
    EXPECT_THAT(problems_of(from_variables({{"WALRELAY_HTTP_LISTEN", "127.0.0.1:0"},
                                            {"WALRELAY_NATS_SOLE_WRITER", "false"}})),
                ElementsAre("WALRELAY_HTTP_LISTEN: http.listen: is not available in this version "
                            "yet. To mend it: remove it",
                            "WALRELAY_NATS_SOLE_WRITER: nats.sole_writer: anything but true is not "
                            "available in this version yet. To mend it: remove it, or write true"));
}

TEST(LaterKeys, AreRefusedWithAValueOfAnotherType) {
    EXPECT_EQ(problems_beside_essentials("[nats]\nsole_writer = \"true\"\n").size(), 1U);
    EXPECT_EQ(problems_beside_essentials("[delivery]\nconfirm_delay = 0\n").size(), 1U);
}

}  // namespace
}  // namespace walrelay::config
